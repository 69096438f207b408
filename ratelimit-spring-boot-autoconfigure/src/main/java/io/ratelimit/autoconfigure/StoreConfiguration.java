package io.ratelimit.autoconfigure;

import io.ratelimit.LocalShare;
import io.ratelimit.RateLimitAlgorithms;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.TimeSource;
import io.ratelimit.change.ReleaseMessages;
import io.ratelimit.event.RateLimitEventPublisher;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.GuardedRedis;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.failover.FailoverRateLimitStore;
import io.ratelimit.store.failover.LocalShareStore;
import io.ratelimit.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.store.scope.ScopedRateLimitStore;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Configures the store: Redis, with memory for failures, or memory alone. A child context uses that of its parent. */
@Configuration(proxyBeanMethods = false)
@Conditional(OnStoreOfThisContext.class)
class StoreConfiguration {

    /** The kind of a store that each instance has on its own. */
    static final String IN_MEMORY = "in-memory";

    @Bean
    @ConditionalOnMissingBean
    TimeSource rateLimitTimeSource() {
        return TimeSource.monotonic();
    }

    @Bean
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    LeaseLifecycle rateLimitLeases(RateLimitProperties properties) {
        return new LeaseLifecycle(properties.redis().timeout());
    }

    /** The return type tells conditions that the bean is a {@link io.ratelimit.store.StoreHealth}. */
    @Bean("rateLimitStore")
    @ConditionalOnMissingBean(RateLimitStore.class)
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    ScopedRateLimitStore redisStore(
            RateLimitProperties properties,
            TimeSource time,
            RateLimitAlgorithms algorithms,
            ObjectProvider<GuardedRedis> redis,
            LeaseLifecycle leases,
            RateLimitEventPublisher events,
            ObjectProvider<ReleaseMessages> releases,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        GuardedRedis guarded = redis.getIfAvailable();
        if (guarded == null) {
            throw new RateLimitConfigurationException(
                    "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Add spring-boot-starter-data-redis, or set ratelimit.store=in-memory.");
        }
        StoreInstrumentation instrumented = instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE);
        RateLimitStore memory = inMemoryStore(properties, time, instrumented);
        RateLimitStore shared = instrumented.timed(
                RedisStoreConfiguration.store(guarded, properties.redis(), releases, instrumented.lostPermits()),
                "redis");
        FailoverRateLimitStore failover = new FailoverRateLimitStore(
                leases.over(
                        properties.redis().rememberRejections()
                                ? new RejectionCachingRateLimitStore(shared, instrumented.cachedRejections())
                                : shared),
                properties.share().equals(LocalShare.WHOLE) ? memory : new LocalShareStore(memory),
                events::publish);
        instrumented.state(failover::isAvailable);
        return new ScopedRateLimitStore(failover, failingOver(memory, algorithms));
    }

    @Bean("rateLimitStore")
    @ConditionalOnMissingBean
    RateLimitStore inMemoryStore(
            RateLimitProperties properties,
            TimeSource time,
            RateLimitAlgorithms algorithms,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        return failingOver(
                inMemoryStore(properties, time, instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE)),
                algorithms);
    }

    /** Memory never fails, but an algorithm of the application can. */
    private static RateLimitStore failingOver(RateLimitStore memory, RateLimitAlgorithms algorithms) {
        return algorithms.isEmpty() ? memory : new FailoverRateLimitStore(memory, memory);
    }

    private static RateLimitStore inMemoryStore(
            RateLimitProperties properties, TimeSource time, StoreInstrumentation instrumented) {
        InMemoryRateLimitStore store =
                new InMemoryRateLimitStore(time, properties.inMemory().maxKeys(), instrumented.evictions());
        instrumented.buckets(store::size);
        return instrumented.timed(store, "in_memory");
    }

    /** Returns the kind of the store: {@code redis}, {@value #IN_MEMORY}, or {@code custom} for one of the application. */
    static String kind(ListableBeanFactory beans) {
        if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, ScopedRateLimitStore.class, true, false).length
                > 0) {
            return "redis";
        }
        boolean own = List.of(
                        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitStore.class, true, false))
                .contains("rateLimitStore");
        return own ? IN_MEMORY : "custom";
    }

    /** Describes the store for the log. Empty for a store of the application. */
    static Optional<String> describe(ListableBeanFactory beans, RateLimitProperties properties) {
        if (beans.getBeanNamesForType(ScopedRateLimitStore.class, true, false).length > 0) {
            String address = beans.getBeanProvider(StoreWarmUp.class).stream()
                    .map(warmUp -> " at " + warmUp.address())
                    .findFirst()
                    .orElse("");
            return Optional.of("Rate limits are counted in Redis" + address + ", under the key prefix '"
                    + properties.redis().keyPrefix() + "'");
        }
        boolean own = List.of(beans.getBeanNamesForType(RateLimitStore.class, true, false))
                .contains("rateLimitStore");
        return own ? Optional.of("Rate limits are counted in memory, by each instance on its own") : Optional.empty();
    }

    /** Measures stores. Without Micrometer there is no bean of this type. */
    interface StoreInstrumentation {

        StoreInstrumentation NONE = new StoreInstrumentation() {};

        /** Returns a store that measures decisions. */
        default RateLimitStore timed(RateLimitStore store, String name) {
            return store;
        }

        /** Gets the number of buckets in memory. */
        default void buckets(IntSupplier count) {}

        /** Returns what is to be called when a bucket in use is evicted. */
        default Runnable evictions() {
            return () -> {};
        }

        /** Returns what is to be called when a call is rejected without the store. */
        default Runnable cachedRejections() {
            return () -> {};
        }

        /** Returns what is to be called with a number of permits that running calls have lost. */
        default LongConsumer lostPermits() {
            return permits -> {};
        }

        /** Gets whether instances share their limits at the moment. */
        default void state(BooleanSupplier shared) {}
    }

    /** Connects a store while the other beans are created, so that the first call does not have to. */
    interface StoreWarmUp {

        /** Returns where the store is, for the log. */
        String address();

        /** Waits for the end of the warm-up, for a limited time. */
        void await();
    }
}
