package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.metrics.ContextMeters;
import io.ratelimit.metrics.LimitGauge;
import io.ratelimit.metrics.StoreMeters;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Configures metrics, if there is a meter registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class MetricsConfiguration {

    /** Uses the only or primary registry, otherwise a composite of all. */
    @Bean
    ContextMeters rateLimitMeters(ObjectProvider<MeterRegistry> registries) {
        return new ContextMeters(registries.getIfUnique(() ->
                new CompositeMeterRegistry(Clock.SYSTEM, registries.stream().toList())));
    }

    @Bean
    CallMetrics rateLimitCallMetrics(
            ContextMeters meters,
            LimitCatalog catalog,
            ObjectProvider<LimitGauge> gauges,
            RateLimitProperties properties) {
        return new CallMetrics(
                meters,
                catalog,
                gauges.orderedStream().toList(),
                properties.metrics().planTag());
    }

    @Bean
    LimitGauge rateLimitCapacityGauge() {
        return LimitGauge.capacity();
    }

    @Bean
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    LimitGauge rateLimitLeasedGauge(ObjectProvider<LeasingStoreRegistry> lifecycle) {
        LeasingStoreRegistry leases = lifecycle.getIfAvailable();
        return LimitGauge.leased(limit -> leases == null ? 0 : leases.leased(limit));
    }

    /** The gate notifies the meters, so it is created after them. */
    @Bean
    LimitGauge rateLimitConcurrencyGauge(ObjectProvider<RateLimitGate> gate) {
        return LimitGauge.concurrency(limit -> gate.getObject().heldPermits(limit.get()));
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(ContextMeters meters, CallMetrics calls) {
        return new StoreMeters(meters, calls::onLostSettlement);
    }
}
