package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.UnlimitedRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Auto-configuration of rate limits. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitAutoConfiguration {

    private static final String ENABLED = "ratelimit.enabled";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = ENABLED, havingValue = "true", matchIfMissing = true)
    @Import({
        StoreConfiguration.class,
        RedisStoreConfiguration.class,
        MetricsConfiguration.class,
        LimiterConfiguration.class,
        AdviceConfiguration.class
    })
    static class Enabled {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = ENABLED, havingValue = "false")
    static class Disabled {

        @Bean
        @ConditionalOnMissingBean
        RateLimiterRegistry rateLimiterRegistry() {
            return new UnlimitedRegistry();
        }
    }
}
