package io.ratelimit.autoconfigure;

import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.expression.RequestLimits;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.web.RequestRules;
import io.ratelimit.web.reactive.ExchangeCors;
import io.ratelimit.web.reactive.ExchangeRejectionHandler;
import io.ratelimit.web.reactive.RequestLimitWebFilter;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
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

/** Auto-configuration of limits of URLs in a WebFlux application. */
@AutoConfiguration(after = {RateLimitAutoConfiguration.class, RateLimitReactiveAutoConfiguration.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@Conditional({OnRateLimitsEnabled.class, OnRequestRules.class})
public final class RequestLimitReactiveAutoConfiguration {

    /** By this name Spring Security finds it, too. */
    private static final String CORS_SOURCE = "corsConfigurationSource";

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
                // The application's, not one for error pages.
                .filter(handler -> !handler.getValue().getBeanType().getName().startsWith("org.springframework."))
                .flatMap(handler -> handler.getKey().getPatternsCondition().getPatterns().stream())
                .map(PathPattern::getPatternString)
                .toList();
    }

    private static PathPatternParser parser(ObjectProvider<RequestMappingHandlerMapping> handlers) {
        RequestMappingHandlerMapping mapping = handlers.getIfAvailable();
        return mapping == null ? PathPatternParser.defaultInstance : mapping.getPathPatternParser();
    }

    @Bean
    RequestLimiting rateLimitRequestLimiting(RequestRules rules) {
        return rules::start;
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
                                corsFilters.orderedStream(), corsSource.stream().map(CorsWebFilter::new))
                        .toList()),
                once(() -> mappings.orderedStream().toList()));
        ExchangeRejectionHandler rejected = new ExchangeRejectionHandler(
                once(() -> adapters.orderedStream()
                        .flatMap(adapter -> adapter instanceof DispatchExceptionHandler handler
                                ? Stream.of(handler)
                                : Stream.empty())
                        .toList()),
                once(() -> resultHandlers.orderedStream().toList()),
                cors);
        return new RequestLimitWebFilter(
                rules, gate, requests, rejected, properties.web().filterOrder());
    }

    /** When the first request is rejected: these beans are for handlers, which come later than filters. */
    private static <T> Supplier<T> once(Supplier<T> handlers) {
        return SingletonSupplier.of(handlers)::obtain;
    }
}
