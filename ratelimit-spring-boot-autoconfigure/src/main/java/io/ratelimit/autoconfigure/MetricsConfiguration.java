package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.autoconfigure.StoreConfiguration.StoreInstrumentation;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.metrics.ContextMeters;
import io.ratelimit.metrics.LimitGauge;
import io.ratelimit.metrics.StoreMeters;
import io.ratelimit.spi.RateLimitStore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
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
    LimitGauge rateLimitLeasedGauge(ObjectProvider<LeaseLifecycle> lifecycle) {
        LeaseLifecycle leases = lifecycle.getIfAvailable();
        return LimitGauge.leased(limit -> leases == null ? 0 : leases.leased(limit));
    }

    /** The gate notifies the meters, so it is created after them. */
    @Bean
    LimitGauge rateLimitConcurrencyGauge(ObjectProvider<RateLimitGate> gate) {
        return LimitGauge.concurrency(limit -> gate.getObject().heldPermits(limit.get()));
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(ContextMeters meters, CallMetrics calls) {
        return new MeteredStores(new StoreMeters(meters), calls);
    }

    private record MeteredStores(StoreMeters meters, CallMetrics calls) implements StoreInstrumentation {

        @Override
        public RateLimitStore timed(RateLimitStore store, String name, @Nullable String redis) {
            return meters.timed(store, name, redis);
        }

        @Override
        public void buckets(IntSupplier count) {
            meters.buckets(count::getAsInt);
        }

        @Override
        public Runnable evictions() {
            return meters.evictions();
        }

        @Override
        public Runnable cachedRejections() {
            return meters.cachedRejections();
        }

        @Override
        public LongConsumer lostPermits() {
            return meters.lostPermits();
        }

        @Override
        public Consumer<RateLimit> lostSettlements() {
            return calls::onLostSettlement;
        }

        @Override
        public void state(BooleanSupplier shared) {
            meters.state(shared);
        }

        @Override
        public void state(String redis, BooleanSupplier available) {
            meters.state(redis, available);
        }
    }
}
