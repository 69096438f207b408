package io.ratelimit.autoconfigure;

import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.reactive.ExchangeCallerRequests;
import io.ratelimit.web.reactive.ExchangeContextFilter;
import io.ratelimit.web.reactive.ExchangeErrorViews;
import io.ratelimit.web.reactive.RateLimitWebExceptionHandler;
import io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.Ordered;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.DispatcherHandler;

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

    private static final List<Class<?>> ERROR_HANDLERS = ErrorViews.types(
            "org.springframework.boot.webflux.error.ErrorWebExceptionHandler",
            "org.springframework.boot.web.reactive.error.ErrorWebExceptionHandler");

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
    ExchangeErrorViews rateLimitErrorViews(ApplicationContext context) {
        ErrorViews views = new ErrorViews(context);
        return new ExchangeErrorViews(status ->
                ErrorViews.isBean(context, ERROR_HANDLERS) && (views.existsFor(status) || views.exists("error/error")));
    }

    @Bean
    @ConditionalOnMissingBean
    ReactiveRateLimitExceptionAdvice rateLimitExceptionAdvice(
            ApplicationContext context, WebSettings settings, ExchangeErrorViews errorViews) {
        return new ReactiveRateLimitExceptionAdvice(context, settings, errorViews);
    }

    @Bean
    CatchAllAdviceWarning rateLimitCatchAllAdviceWarning(ApplicationContext context) {
        return new CatchAllAdviceWarning(context, false);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitWebExceptionHandler rateLimitWebExceptionHandler(
            ApplicationContext context,
            WebSettings settings,
            ExchangeErrorViews errorViews,
            ObjectProvider<ServerCodecConfigurer> codecs) {
        return new RateLimitWebExceptionHandler(
                context, settings, errorViews, codecs.getIfAvailable(ServerCodecConfigurer::create));
    }
}
