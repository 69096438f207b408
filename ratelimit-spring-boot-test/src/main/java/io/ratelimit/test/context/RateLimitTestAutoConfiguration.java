package io.ratelimit.test.context;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.test.MutableTimeSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/** Auto-configuration of the clock, and of what resets the limits, in a test. */
@AutoConfiguration(before = RateLimitAutoConfiguration.class)
@ConditionalOnBooleanProperty("ratelimit.enabled")
public final class RateLimitTestAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(TimeSource.class)
    MutableTimeSource rateLimitTimeSource() {
        return new MutableTimeSource();
    }

    @Bean
    @ConditionalOnBean(MutableTimeSource.class)
    @ConditionalOnMissingBean(Waiter.class)
    ClockMovingWaiter rateLimitWaiter(MutableTimeSource time) {
        return new ClockMovingWaiter(time);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TestRateLimits rateLimitTestLimits() {
        return new TestRateLimits();
    }
}
