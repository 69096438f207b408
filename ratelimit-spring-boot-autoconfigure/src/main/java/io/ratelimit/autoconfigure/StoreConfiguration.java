package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Configures the store in memory, unless there is another one. A child context uses that of its parent. */
@Configuration(proxyBeanMethods = false)
@Conditional(OnStoreOfThisContext.class)
public class StoreConfiguration {

    /** The bean of a store of the starter. */
    static final String DEFAULT_STORE = "rateLimitDefaultStore";

    /** The kind of the store that instances share. */
    static final String REDIS = "redis";

    /** The kind of a store that each instance has on its own. */
    static final String IN_MEMORY = "in-memory";

    /** The kind of a store of the application. */
    static final String CUSTOM = "custom";

    @Bean
    @ConditionalOnMissingBean
    TimeSource rateLimitTimeSource() {
        return TimeSource.monotonic();
    }

    /** @throws RateLimitConfigurationException if the store was to be in Redis, but Spring Data Redis is not on the class path */
    @Bean(DEFAULT_STORE)
    @ConditionalOnMissingBean
    RateLimitStore rateLimitInMemoryStore(
            RateLimitProperties properties,
            TimeSource time,
            AlgorithmCatalog algorithms,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        if (properties.store() == RateLimitProperties.StoreType.REDIS) {
            throw new RateLimitConfigurationException(
                    "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Add spring-boot-starter-data-redis, or set ratelimit.store=in-memory.");
        }
        return failingOver(
                inMemoryStore(properties, time, instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE), null),
                algorithms);
    }

    /** Memory never fails, but an algorithm of the application can. */
    static RateLimitStore failingOver(RateLimitStore memory, AlgorithmCatalog algorithms) {
        return algorithms.isEmpty() ? memory : new FailoverRateLimitStore(memory, memory);
    }

    static RateLimitStore inMemoryStore(
            RateLimitProperties properties,
            TimeSource time,
            StoreInstrumentation instrumented,
            @Nullable String redis) {
        InMemoryRateLimitStore store =
                new InMemoryRateLimitStore(time, properties.inMemory().maxKeys(), instrumented.evictions());
        instrumented.buckets(store::size);
        return instrumented.timed(store, "in_memory", redis);
    }

    /** Returns the kind of the store: {@value #REDIS}, {@value #IN_MEMORY}, or {@value #CUSTOM} for one of the application. */
    public static String kind(BeanFactory beans) {
        if (!beans.containsBean(DEFAULT_STORE)) {
            return CUSTOM;
        }
        return beans.isTypeMatch(DEFAULT_STORE, RoutingRateLimitStore.class) ? REDIS : IN_MEMORY;
    }
}
