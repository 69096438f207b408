package io.ratelimit.autoconfigure.web;

import io.ratelimit.web.servlet.RouteLimiter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.filter.SimpleFilterSupplier;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the filter {@code RateLimit} for routes of Spring Cloud Gateway on MVC. If limits are disabled, routes may
 * have the filter, too.
 */
@AutoConfiguration(after = RateLimitServletAutoConfiguration.class)
@ConditionalOnClass({SimpleFilterSupplier.class, GatewayMvcProperties.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
public final class RateLimitGatewayMvcAutoConfiguration {

    @Bean
    GatewayFilterSupplier rateLimitGatewayFilters(
            ObjectProvider<GatewayMvcProperties> properties, ObjectProvider<RouteLimiter> limiter) {
        return new GatewayFilterSupplier(properties, limiter);
    }
}
