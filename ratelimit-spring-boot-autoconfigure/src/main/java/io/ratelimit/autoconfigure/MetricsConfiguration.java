package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.properties.RateLimitProperties.StoreType;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.metrics.ContextMeters;
import io.ratelimit.metrics.StoreMeters;
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

    /** Uses the only or primary registry, otherwise a composite of all. */
    @Bean
    ContextMeters rateLimitMeters(ObjectProvider<MeterRegistry> registries) {
        return new ContextMeters(registries.getIfUnique(() ->
                new CompositeMeterRegistry(Clock.SYSTEM, registries.stream().toList())));
    }

    /** The gate and the store notify the meters, so they are created after them. */
    @Bean
    CallMetrics rateLimitCallMetrics(
            ContextMeters meters,
            LimitCatalog catalog,
            ObjectProvider<RedisServers> servers,
            ObjectProvider<RateLimitGate> gate,
            RateLimitProperties properties) {
        RedisServers redis = servers.getIfAvailable();
        return new CallMetrics(
                meters,
                catalog,
                properties.store() == StoreType.REDIS ? limit -> redis == null ? 0 : redis.leased(limit) : null,
                limit -> gate.getObject().heldPermits(limit.get()),
                properties.metrics().planTag());
    }

    @Bean
    StoreInstrumentation rateLimitStoreInstrumentation(ContextMeters meters, CallMetrics calls) {
        return new StoreMeters(meters, calls::onLostSettlement);
    }
}
