package io.ratelimit.autoconfigure;

import io.ratelimit.LocalShare;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.TimeSource;
import io.ratelimit.event.RateLimitEventPublisher;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.GuardedRedis;
import io.ratelimit.redis.RedisRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.failover.FailoverRateLimitStore;
import io.ratelimit.store.failover.LocalShareStore;
import io.ratelimit.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.store.scope.ScopedRateLimitStore;
import java.util.List;
import java.util.Optional;
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
            ObjectProvider<GuardedRedis> redis,
            LeaseLifecycle leases,
            RateLimitEventPublisher events,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        GuardedRedis guarded = redis.getIfAvailable();
        if (guarded == null) {
            throw new RateLimitConfigurationException(
                    "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Add spring-boot-starter-data-redis, or set ratelimit.store=in-memory.");
        }
        RateLimitStore memory = inMemoryStore(properties, time, instrumentation);
        RateLimitStore shared = instrument(
                new RedisRateLimitStore(
                        guarded,
                        properties.redis().keyPrefix(),
                        properties.redis().keyHash()),
                "redis",
                instrumentation);
        FailoverRateLimitStore failover = new FailoverRateLimitStore(
                leases.over(
                        properties.redis().rememberRejections() ? new RejectionCachingRateLimitStore(shared) : shared),
                properties.share().equals(LocalShare.WHOLE) ? memory : new LocalShareStore(memory),
                events::publish);
        return new ScopedRateLimitStore(failover, memory);
    }

    @Bean("rateLimitStore")
    @ConditionalOnMissingBean
    RateLimitStore inMemoryStore(
            RateLimitProperties properties, TimeSource time, ObjectProvider<StoreInstrumentation> instrumentation) {
        return instrument(
                new InMemoryRateLimitStore(time, properties.inMemory().maxKeys()), "in_memory", instrumentation);
    }

    private static RateLimitStore instrument(
            RateLimitStore store, String name, ObjectProvider<StoreInstrumentation> instrumentation) {
        StoreInstrumentation instrumented = instrumentation.getIfAvailable();
        return instrumented == null ? store : instrumented.instrument(store, name);
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

    /** Decorates stores with metrics. */
    @FunctionalInterface
    interface StoreInstrumentation {

        RateLimitStore instrument(RateLimitStore store, String name);
    }

    /** Connects a store while the other beans are created, so that the first call does not have to. */
    interface StoreWarmUp {

        /** Returns where the store is, for the log. */
        String address();

        /** Waits for the end of the warm-up, for a limited time. */
        void await();
    }
}
