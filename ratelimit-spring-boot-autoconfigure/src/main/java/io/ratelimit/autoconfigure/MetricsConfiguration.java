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

/** Metrics, where there is a registry for them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class MetricsConfiguration {

    @Bean
    CallMetrics rateLimitCallMetrics(ObjectProvider<MeterRegistry> registries) {
        return new CallMetrics(one(registries));
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(ObjectProvider<MeterRegistry> registries) {
        MeterRegistry registry = one(registries);
        return (store, name) -> new TimedRateLimitStore(store, name, registry);
    }

    /** Of several, none of them primary, all are told. */
    private static MeterRegistry one(ObjectProvider<MeterRegistry> registries) {
        return registries.getIfUnique(() ->
                new CompositeMeterRegistry(Clock.SYSTEM, registries.stream().toList()));
    }
}
