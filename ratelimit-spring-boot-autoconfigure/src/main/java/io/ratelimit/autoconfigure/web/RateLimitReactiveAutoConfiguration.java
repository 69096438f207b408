package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.properties.OnRequestRules;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.reactive.ExchangeContextFilter;
import io.ratelimit.web.reactive.ExchangeCors;
import io.ratelimit.web.reactive.ExchangeRejectionHandler;
import io.ratelimit.web.reactive.ExchangeRequestCallSource;
import io.ratelimit.web.reactive.RateLimitWebExceptionHandler;
import io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice;
import io.ratelimit.web.reactive.RequestLimitWebFilter;
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
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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

/** Auto-configuration of rate limits in a reactive application. */
@AutoConfiguration(
        after = RateLimitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration",
            "org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
@Import({WebConfiguration.class, OpenApiConfiguration.class})
public final class RateLimitReactiveAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ReactiveRequestCallSource rateLimitCallerRequests(WebSettings settings) {
        return new ExchangeRequestCallSource(settings);
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
    ReactiveRateLimitExceptionAdvice rateLimitProblemAdvice(ApplicationContext context, WebSettings settings) {
        return new ReactiveRateLimitExceptionAdvice(
                new ProblemResponses(context, settings), new ApplicationAdvice(context));
    }

    @Bean
    CatchAllAdviceWarning rateLimitCatchAllAdviceWarning(ApplicationContext context) {
        return new CatchAllAdviceWarning(new ApplicationAdvice(context), false);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitWebExceptionHandler rateLimitWebExceptionHandler(
            ReactiveRateLimitExceptionAdvice advice, ObjectProvider<ServerCodecConfigurer> codecs) {
        return new RateLimitWebExceptionHandler(advice, codecs.getIfAvailable(ServerCodecConfigurer::create));
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
                @Qualifier("requestMappingHandlerMapping") ObjectProvider<RequestMappingHandlerMapping> handlers) {
            return WebConfiguration.requestRules(
                    properties,
                    WebConfiguration.SECURITY_ORDER,
                    catalog,
                    beans,
                    handlers,
                    RequestMappingHandlerMapping::getPathPatternParser);
        }

        @Bean
        RequestLimitWebFilter rateLimitRequestFilter(
                RequestRuleMapping rules,
                RateLimitGate gate,
                ReactiveRequestCallSource requests,
                ExchangeRejectionHandler rejectionHandler,
                ApplicationContext context) {
            return new RequestLimitWebFilter(
                    rules, RuleOrder.BEFORE_SECURITY, gate, requests, rejectionHandler, context);
        }

        @Bean
        RequestLimitWebFilter rateLimitUserRequestFilter(
                RequestRuleMapping rules,
                RateLimitGate gate,
                ReactiveRequestCallSource requests,
                ExchangeRejectionHandler rejectionHandler,
                ApplicationContext context) {
            return new RequestLimitWebFilter(
                    rules, RuleOrder.AFTER_SECURITY, gate, requests, rejectionHandler, context);
        }

        @Bean
        ExchangeRejectionHandler rateLimitRejectionHandler(
                ObjectProvider<HandlerAdapter> adapters,
                ObjectProvider<HandlerResultHandler> resultHandlers,
                ObjectProvider<CorsWebFilter> corsFilters,
                @Qualifier(WebConfiguration.CORS_SOURCE) ObjectProvider<CorsConfigurationSource> corsSource,
                ObjectProvider<HandlerMapping> mappings) {
            // Looked up when the first request is rejected, because beans of handlers are created after filters.
            ExchangeCors cors = new ExchangeCors(
                    SingletonSupplier.of(() -> Stream.concat(
                                    corsFilters.orderedStream(),
                                    corsSource.stream().map(CorsWebFilter::new))
                            .toList())::obtain,
                    SingletonSupplier.of(() -> mappings.orderedStream().toList())::obtain);
            return new ExchangeRejectionHandler(
                    SingletonSupplier.of(() -> adapters.orderedStream()
                            .flatMap(adapter -> adapter instanceof DispatchExceptionHandler handler
                                    ? Stream.of(handler)
                                    : Stream.empty())
                            .toList())::obtain,
                    SingletonSupplier.of(() -> resultHandlers.orderedStream().toList())::obtain,
                    cors);
        }
    }
}
