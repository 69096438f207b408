package io.ratelimit.autoconfigure;

import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.expression.RequestLimits;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.RequestRules;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.reactive.ExchangeCallerRequests;
import io.ratelimit.web.reactive.ExchangeContextFilter;
import io.ratelimit.web.reactive.ExchangeCors;
import io.ratelimit.web.reactive.ExchangeRejectionHandler;
import io.ratelimit.web.reactive.RateLimitWebExceptionHandler;
import io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice;
import io.ratelimit.web.reactive.RequestLimitWebFilter;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsWebFilter;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** Auto-configuration of rate limits in a reactive application. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration",
            "org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitReactiveAutoConfiguration {

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
    ReactiveCallerRequests rateLimitCallerRequests(WebSettings settings) {
        return new ExchangeCallerRequests(settings);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitFirstFilter")
    ExchangeContextFilter rateLimitFirstFilter(WebSettings settings) {
        return new ExchangeContextFilter(settings, Ordered.HIGHEST_PRECEDENCE);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitLastFilter")
    ExchangeContextFilter rateLimitLastFilter(WebSettings settings) {
        return new ExchangeContextFilter(settings, Ordered.LOWEST_PRECEDENCE);
    }

    @Bean
    @ConditionalOnMissingBean
    ReactiveRateLimitExceptionAdvice rateLimitExceptionAdvice(ApplicationContext context, WebSettings settings) {
        return new ReactiveRateLimitExceptionAdvice(context, settings);
    }

    @Bean
    CatchAllAdviceWarning rateLimitCatchAllAdviceWarning(ApplicationContext context) {
        return new CatchAllAdviceWarning(context, false);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitWebExceptionHandler rateLimitWebExceptionHandler(
            ApplicationContext context, WebSettings settings, ObjectProvider<ServerCodecConfigurer> codecs) {
        return new RateLimitWebExceptionHandler(
                context, settings, codecs.getIfAvailable(ServerCodecConfigurer::create));
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
                    .flatMap(handler -> handler.getKey().getPatternsCondition().getPatterns().stream())
                    .map(PathPattern::getPatternString)
                    .toList();
        }

        private static PathPatternParser parser(ObjectProvider<RequestMappingHandlerMapping> handlers) {
            RequestMappingHandlerMapping mapping = handlers.getIfAvailable();
            return mapping == null ? PathPatternParser.defaultInstance : mapping.getPathPatternParser();
        }

        @Bean
        RequestLimitWebFilter rateLimitRequestFilter(
                RequestRules rules,
                RateLimitGate gate,
                ReactiveCallerRequests requests,
                RateLimitProperties properties,
                ObjectProvider<HandlerAdapter> adapters,
                ObjectProvider<HandlerResultHandler> resultHandlers,
                ObjectProvider<CorsWebFilter> corsFilters,
                @Qualifier(CORS_SOURCE) ObjectProvider<CorsConfigurationSource> corsSource,
                ObjectProvider<HandlerMapping> mappings) {
            ExchangeCors cors = new ExchangeCors(
                    once(() -> Stream.concat(
                                    corsFilters.orderedStream(),
                                    corsSource.stream().map(CorsWebFilter::new))
                            .toList()),
                    once(() -> mappings.orderedStream().toList()));
            ExchangeRejectionHandler rejectionHandler = new ExchangeRejectionHandler(
                    once(() -> adapters.orderedStream()
                            .flatMap(adapter -> adapter instanceof DispatchExceptionHandler handler
                                    ? Stream.of(handler)
                                    : Stream.empty())
                            .toList()),
                    once(() -> resultHandlers.orderedStream().toList()),
                    cors);
            return new RequestLimitWebFilter(
                    rules, gate, requests, rejectionHandler, properties.web().filterOrder());
        }

        /** Looks the beans up when the first request is rejected, because beans of handlers are created after filters. */
        private static <T> Supplier<T> once(Supplier<T> handlers) {
            return SingletonSupplier.of(handlers)::obtain;
        }
    }
}
