package io.ratelimit.autoconfigure;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.RequestLimits;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.RequestRules;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.servlet.RateLimitExceptionAdvice;
import io.ratelimit.web.servlet.RateLimitExceptionResolver;
import io.ratelimit.web.servlet.RateLimitHeadersFilter;
import io.ratelimit.web.servlet.RequestLimitFilter;
import io.ratelimit.web.servlet.ServletCallerRequests;
import io.ratelimit.web.servlet.ServletCors;
import io.ratelimit.web.servlet.ServletRejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPatternParser;

/** Auto-configuration of rate limits in a servlet application. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration",
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpServletRequest.class, DispatcherServlet.class})
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitServletAutoConfiguration {

    /** Spring Security uses the bean of this name, too. */
    private static final String CORS_SOURCE = "corsConfigurationSource";

    @Bean
    @ConditionalOnMissingBean
    WebSettings rateLimitWebSettings(RateLimitProperties properties, LimitCatalog limits) {
        return new WebSettings(
                properties.web().headers(),
                properties.web().ipv6Prefix(),
                properties.web().missingKeyStatus(),
                limits);
    }

    @Bean
    @ConditionalOnMissingBean
    CallerRequest.Source rateLimitCallerRequests(WebSettings settings) {
        return new ServletCallerRequests(settings);
    }

    @Bean
    ServletRejectionHandler rateLimitRejectionHandler(
            RateLimitExceptionResolver rateLimitResolver,
            WebSettings settings,
            @Qualifier("handlerExceptionResolver") ObjectProvider<HandlerExceptionResolver> resolver,
            ObjectProvider<CorsFilter> filters,
            ObjectProvider<FilterRegistrationBean<?>> registrations,
            @Qualifier(CORS_SOURCE) ObjectProvider<CorsConfigurationSource> source,
            ObjectProvider<HandlerMapping> mappings) {
        ServletCors cors = new ServletCors(
                once(() -> Stream.of(
                                filters.orderedStream(),
                                registrations.orderedStream().flatMap(RateLimitServletAutoConfiguration::corsFilter),
                                source.stream().map(CorsFilter::new))
                        .flatMap(Function.identity())
                        .toList()),
                once(() -> mappings.orderedStream().toList()));
        return new ServletRejectionHandler(
                once(() -> Stream.concat(Stream.of(rateLimitResolver), resolver.stream())
                        .toList()),
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

    /** Looks the beans up when the first request is rejectionHandler, because beans of handlers are created after filters. */
    private static <T> Supplier<T> once(Supplier<T> beans) {
        return SingletonSupplier.of(beans)::obtain;
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitHeadersFilter rateLimitHeadersFilter(WebSettings settings, ServletRejectionHandler rejectionHandler) {
        return new RateLimitHeadersFilter(settings, rejectionHandler);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionAdvice rateLimitExceptionAdvice(ApplicationContext context, WebSettings settings) {
        return new RateLimitExceptionAdvice(context, settings);
    }

    @Bean
    RateLimitExceptionResolver rateLimitExceptionResolver(
            @Qualifier("handlerExceptionResolver") ObjectProvider<HandlerExceptionResolver> resolver,
            RateLimitExceptionAdvice advice,
            WebSettings settings,
            ApplicationContext context) {
        return new RateLimitExceptionResolver(resolver::getIfAvailable, advice, settings, context);
    }

    @Bean
    CatchAllAdviceWarning rateLimitCatchAllAdviceWarning(ApplicationContext context) {
        return new CatchAllAdviceWarning(context, true);
    }

    /** Limits URLs, if there may be rules for them. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRequestRules.class)
    static class UrlRules {

        @Bean
        RequestRules rateLimitRequestRules(
                RateLimitProperties properties,
                LimitCatalog catalog,
                ConfigurableListableBeanFactory beans,
                @Qualifier("requestMappingHandlerMapping") ObjectProvider<RequestMappingHandlerMapping> handlers) {
            return new RequestRules(
                    properties.requestRules(),
                    new RequestLimits(catalog, beans),
                    () -> parser(handlers),
                    () -> openPaths(handlers));
        }

        private static List<String> openPaths(ObjectProvider<RequestMappingHandlerMapping> handlers) {
            return handlers.stream()
                    .flatMap(mapping -> mapping.getHandlerMethods().entrySet().stream())
                    .filter(handler ->
                            handler.getKey().getMethodsCondition().getMethods().isEmpty())
                    // Leaves out Spring's own handlers, such as the one for error pages.
                    .filter(handler ->
                            !handler.getValue().getBeanType().getName().startsWith("org.springframework."))
                    .flatMap(handler -> handler.getKey().getPatternValues().stream())
                    .toList();
        }

        /** Returns the parser of the handlers, or the default if they use Ant patterns. */
        private static PathPatternParser parser(ObjectProvider<RequestMappingHandlerMapping> handlers) {
            RequestMappingHandlerMapping mapping = handlers.getIfAvailable();
            PathPatternParser parser = mapping == null ? null : mapping.getPatternParser();
            return parser == null ? PathPatternParser.defaultInstance : parser;
        }

        @Bean
        RequestLimitFilter rateLimitRequestFilter(
                RequestRules rules,
                RateLimitGate gate,
                RateLimitProperties properties,
                WebSettings settings,
                ServletRejectionHandler rejectionHandler) {
            return new RequestLimitFilter(
                    rules, gate, settings, rejectionHandler, properties.web().filterOrder());
        }
    }
}
