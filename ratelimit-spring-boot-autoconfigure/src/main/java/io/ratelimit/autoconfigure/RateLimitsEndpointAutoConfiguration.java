package io.ratelimit.autoconfigure;

import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.limiter.LimitCatalog;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/** Auto-configuration of the endpoint {@code ratelimits}. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitsEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    RateLimitsEndpoint rateLimitsEndpoint(LimitCatalog catalog, RateLimitStartup startup) {
        return new RateLimitsEndpoint(
                catalog::limits,
                startup::methods,
                startup::requests,
                name -> catalog.settings().overrides(name).pointcut());
    }
}
