package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.web.reactive.GatewayRateLimiter;
import io.ratelimit.web.reactive.UnlimitedGatewayRateLimiter;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the rate limiter that routes of Spring Cloud Gateway refer to as {@code #{@rateLimitGatewayLimiter}}. It is
 * the default of the filter {@code RequestRateLimiter} in an application that has no other.
 */
@AutoConfiguration(
        after = RateLimitAutoConfiguration.class,
        afterName = "org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration",
        beforeName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnClass(AbstractRateLimiter.class)
@ConditionalOnProperty(
        name = {"spring.cloud.gateway.enabled", "spring.cloud.gateway.server.webflux.enabled"},
        matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
public final class RateLimitGatewayAutoConfiguration {

    private static final String NAME = "rateLimitGatewayLimiter";

    @Bean(NAME)
    @ConditionalOnMissingBean(RateLimiter.class)
    AbstractRateLimiter<GatewayRateLimiter.Config> defaultRateLimiter(
            ConfigurationService configuration, BeanFactory beans) {
        RateLimitGate gate = beans.getBeanProvider(RateLimitGate.class).getIfAvailable();
        return gate == null
                ? new UnlimitedGatewayRateLimiter(configuration)
                : new GatewayRateLimiter(
                        configuration,
                        beans.getBean(LimitCatalog.class),
                        gate,
                        beans.getBean(ReactiveRequestCallSource.class));
    }

    /** Beside a rate limiter of the application or the gateway, which stays the one that is injected. */
    @Bean(name = NAME, defaultCandidate = false)
    @ConditionalOnMissingBean(name = NAME)
    AbstractRateLimiter<GatewayRateLimiter.Config> furtherRateLimiter(
            ConfigurationService configuration, BeanFactory beans) {
        return defaultRateLimiter(configuration, beans);
    }
}
