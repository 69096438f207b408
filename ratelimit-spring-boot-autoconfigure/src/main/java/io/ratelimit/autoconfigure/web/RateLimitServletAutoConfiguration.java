package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.properties.OnRequestRules;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.servlet.RateLimitExceptionResolver;
import io.ratelimit.web.servlet.RateLimitHeadersFilter;
import io.ratelimit.web.servlet.RequestLimitFilter;
import io.ratelimit.web.servlet.RouteLimiter;
import io.ratelimit.web.servlet.ServletCors;
import io.ratelimit.web.servlet.ServletRejectionHandler;
import io.ratelimit.web.servlet.ServletRequestCallSource;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.EnumSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Auto-configuration of rate limits in a servlet application. */
@AutoConfiguration(
        after = RateLimitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration",
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpServletRequest.class, DispatcherServlet.class})
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
@Import({WebConfiguration.class, OpenApiConfiguration.class})
public final class RateLimitServletAutoConfiguration {

    static final String CALLERS = "rateLimitCallerRequests";

    @Bean(CALLERS)
    @ConditionalOnMissingBean
    RequestCall.Source rateLimitCallerRequests(WebSettings settings) {
        return new ServletRequestCallSource(settings);
    }

    @Bean
    ServletRejectionHandler rateLimitRejectionHandler(
            RateLimitExceptionResolver rateLimitResolver,
            WebSettings settings,
            @Qualifier("handlerExceptionResolver") ObjectProvider<HandlerExceptionResolver> resolver,
            ObjectProvider<CorsFilter> filters,
            ObjectProvider<FilterRegistrationBean<?>> registrations,
            @Qualifier(WebConfiguration.CORS_SOURCE) ObjectProvider<CorsConfigurationSource> source,
            ObjectProvider<HandlerMapping> mappings) {
        // Looked up when the first request is rejected, because beans of handlers are created after filters.
        ServletCors cors = new ServletCors(
                SingletonSupplier.of(() -> Stream.of(
                                filters.orderedStream(),
                                registrations.orderedStream().flatMap(RateLimitServletAutoConfiguration::corsFilter),
                                source.stream().map(CorsFilter::new))
                        .flatMap(Function.identity())
                        .toList())::obtain,
                SingletonSupplier.of(() -> mappings.orderedStream().toList())::obtain);
        return new ServletRejectionHandler(
                SingletonSupplier.<HandlerExceptionResolver>of(() -> {
                    HandlerExceptionResolverComposite all = new HandlerExceptionResolverComposite();
                    all.setExceptionResolvers(Stream.concat(Stream.of(rateLimitResolver), resolver.stream())
                            .toList());
                    return all;
                })::obtain,
                cors,
                settings);
    }

    /** Returns the CORS filter of a registration for all URLs. A registration for some URLs does not apply to the others. */
    private static Stream<CorsFilter> corsFilter(FilterRegistrationBean<?> registration) {
        boolean forAll = registration.getUrlPatterns().isEmpty()
                || registration.getUrlPatterns().contains("/*");
        return registration.isEnabled() && forAll && registration.getFilter() instanceof CorsFilter filter
                ? Stream.of(filter)
                : Stream.empty();
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitHeadersFilter rateLimitHeadersFilter(WebSettings settings, ServletRejectionHandler rejectionHandler) {
        return new RateLimitHeadersFilter(settings, rejectionHandler);
    }

    /** For forwards and includes, too. */
    @Bean
    FilterRegistrationBean<RateLimitHeadersFilter> rateLimitHeadersRegistration(RateLimitHeadersFilter filter) {
        FilterRegistrationBean<RateLimitHeadersFilter> registration = new FilterRegistrationBean<>(filter);
        registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        registration.setOrder(filter.getOrder());
        return registration;
    }

    @Bean
    RateLimitExceptionResolver rateLimitExceptionResolver(
            @Qualifier("requestMappingHandlerAdapter") ObjectProvider<RequestMappingHandlerAdapter> adapters,
            WebSettings settings,
            ApplicationContext context) {
        return new RateLimitExceptionResolver(adapters, new ProblemResponses(context, settings), context);
    }

    @Bean
    CatchAllAdviceWarning rateLimitCatchAllAdviceWarning(ApplicationContext context) {
        return new CatchAllAdviceWarning(new ApplicationAdvice(context), true);
    }

    /** For the filters of routes. Most applications have none. */
    @Bean
    @Lazy
    RouteLimiter rateLimitRoutes(
            LimitCatalog catalog, ConfigurableListableBeanFactory beans, RateLimitGate gate, WebSettings settings) {
        return new RouteLimiter(new LimitOperations(catalog, beans), gate, settings);
    }

    /** Limits URLs, if there may be rules for them. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRequestRules.class)
    static class UrlRules {

        @Bean
        RequestRuleMapping rateLimitRequestRules(
                RateLimitProperties properties,
                LimitCatalog catalog,
                ConfigurableListableBeanFactory beans,
                Environment environment,
                @Qualifier("requestMappingHandlerMapping") ObjectProvider<RequestMappingHandlerMapping> handlers) {
            return WebConfiguration.requestRules(
                    properties,
                    environment.getProperty(
                            "spring.security.filter.order", Integer.class, WebConfiguration.SECURITY_ORDER),
                    catalog,
                    beans,
                    handlers,
                    RequestMappingHandlerMapping::getPatternParser);
        }

        @Bean
        RequestLimitFilter rateLimitRequestFilter(
                RequestRuleMapping rules,
                RateLimitGate gate,
                WebSettings settings,
                ServletRejectionHandler rejectionHandler) {
            return new RequestLimitFilter(rules, RuleOrder.BEFORE_SECURITY, gate, settings, rejectionHandler);
        }

        @Bean
        RequestLimitFilter rateLimitUserRequestFilter(
                RequestRuleMapping rules,
                RateLimitGate gate,
                WebSettings settings,
                ServletRejectionHandler rejectionHandler) {
            return new RequestLimitFilter(rules, RuleOrder.AFTER_SECURITY, gate, settings, rejectionHandler);
        }
    }
}
