package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.properties.OnRateLimitsEnabled;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.properties.RateLimitPropertiesValidator;
import io.ratelimit.internal.change.DisabledLimitAdmin;
import io.ratelimit.internal.limiter.UnlimitedRateLimiterRegistry;
import java.lang.System.Logger.Level;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

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

    /** The name of a bean that exists wherever limits are enabled. Without it, the other auto-configurations do not apply. */
    public static final String CATALOG = "rateLimitCatalog";

    /** The name of a bean that exists wherever this configuration applies, also if limits are disabled. */
    static final String VALIDATOR = "rateLimitPropertiesValidator";

    @Bean(VALIDATOR)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitPropertiesValidator rateLimitPropertiesValidator(Environment environment) {
        return new RateLimitPropertiesValidator(environment);
    }

    /** Comes before the beans below, as a nested class. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRateLimitsEnabled.class)
    @Import({
        RedisStoreConfiguration.class,
        StoreConfiguration.class,
        MetricsConfiguration.class,
        ObservationConfiguration.class,
        LimiterConfiguration.class,
        ChangeConfiguration.class,
        AdviceConfiguration.class,
        SecurityConfiguration.class
    })
    static class Enabled {}

    /** For an application whose limits are disabled. */
    @Bean
    @ConditionalOnMissingBean
    RateLimiterRegistry rateLimitRegistry() {
        System.getLogger("io.ratelimit").log(Level.INFO, "Rate limits are off (ratelimit.enabled is false)");
        return new UnlimitedRateLimiterRegistry();
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitAdmin rateLimitAdmin() {
        return new DisabledLimitAdmin();
    }
}
