package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.ratelimit.autoconfigure.StoreConfiguration.StoreInstrumentation;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.metrics.TimedRateLimitStore;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures metrics, if there is a meter registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class MetricsConfiguration {

    @Bean
    CallMetrics rateLimitCallMetrics(ObjectProvider<MeterRegistry> registries) {
        return new CallMetrics(registry(registries));
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(ObjectProvider<MeterRegistry> registries) {
        MeterRegistry registry = registry(registries);
        return (store, name) -> new TimedRateLimitStore(store, name, registry);
    }

    /** Returns the only or primary registry, otherwise a composite of all. */
    private static MeterRegistry registry(ObjectProvider<MeterRegistry> registries) {
        return registries.getIfUnique(() ->
                new CompositeMeterRegistry(Clock.SYSTEM, registries.stream().toList()));
    }
}
