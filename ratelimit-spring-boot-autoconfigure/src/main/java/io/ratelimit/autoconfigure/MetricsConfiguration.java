package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.autoconfigure.StoreConfiguration.StoreInstrumentation;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.metrics.TimedRateLimitStore;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Metrics, where there is a registry for them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
class MetricsConfiguration {

    @Bean
    CallMetrics rateLimitCallMetrics(MeterRegistry registry) {
        return new CallMetrics(registry);
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(MeterRegistry registry) {
        return (store, name) -> new TimedRateLimitStore(store, name, registry);
    }
}
