package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.event.RateLimitEventPublisher;
import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.statistics.InstanceCount;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.failover.LocalShareStore;
import io.ratelimit.internal.store.rejection.RejectionCache;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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

    /** The kind of a store of the application. */
    static final String CUSTOM = "custom";

    /** The server of decisions in memory, where others are in several servers: Prometheus wants the same tags of all. */
    private static final String NO_SERVER = "none";

    @Bean
    @ConditionalOnMissingBean
    TimeSource rateLimitTimeSource() {
        return TimeSource.monotonic();
    }

    @Bean
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    LeasingStoreRegistry rateLimitLeases() {
        return new LeasingStoreRegistry();
    }

    @Bean
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    InstanceCount rateLimitInstanceCount() {
        return new InstanceCount();
    }

    @Bean
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    RateLimitLifecycle.Part rateLimitLeasePart(LeasingStoreRegistry leases) {
        return new RateLimitLifecycle.Part(RateLimitLifecycle.Stage.LEASES, leases::start, leases::stop);
    }

    /** The return type tells conditions that the bean is a {@link io.ratelimit.spi.StoreHealth}. */
    @Bean("rateLimitDefaultStore")
    @ConditionalOnMissingBean(RateLimitStore.class)
    @Conditional(RedisStoreConfiguration.OnRedisStore.class)
    RoutingRateLimitStore redisStore(
            RateLimitProperties properties,
            TimeSource time,
            AlgorithmCatalog algorithms,
            ObjectProvider<GuardedRedis> redis,
            ObjectProvider<RedisServers> redisServers,
            LeasingStoreRegistry leases,
            InstanceCount instances,
            RateLimitEventPublisher events,
            ObjectProvider<BucketMessages> releases,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        GuardedRedis guarded = redis.getIfAvailable();
        if (guarded == null) {
            throw new RateLimitConfigurationException(
                    "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Add spring-boot-starter-data-redis, or set ratelimit.store=in-memory.");
        }
        StoreInstrumentation instrumented = instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE);
        RedisServers servers = redisServers.getIfAvailable(() -> new RedisServers(Map.of()));
        boolean several = !servers.byId().isEmpty();
        RateLimitStore memory = inMemoryStore(properties, time, instrumented, several ? NO_SERVER : null);
        RedisStores stores = new RedisStores(
                instrumented,
                properties.share().equals(LocalShare.WHOLE) ? memory : new LocalShareStore(memory, instances::get),
                new RejectionCache(System::nanoTime),
                leases,
                events,
                releases);
        if (!several) {
            FailoverRateLimitStore only = stores.failover(guarded, properties.redis(), null);
            instrumented.state(only::isAvailable);
            return RoutingRateLimitStore.byScope(only, failingOver(memory, algorithms));
        }
        return RoutingRateLimitStore.byScope(
                stores.routing(guarded, properties.redis(), servers), failingOver(memory, algorithms));
    }

    /** Stacks the stores of each server. */
    private record RedisStores(
            StoreInstrumentation instrumented,
            RateLimitStore local,
            RejectionCache rejections,
            LeasingStoreRegistry leases,
            RateLimitEventPublisher events,
            ObjectProvider<BucketMessages> releases) {

        /** @param name of the server; {@code null}: there is only one */
        FailoverRateLimitStore failover(GuardedRedis redis, RedisStoreProperties properties, @Nullable String name) {
            RateLimitStore shared = instrumented.timed(
                    RedisStoreConfiguration.store(redis, properties, releases, instrumented), "redis", name);
            FailoverRateLimitStore store = new FailoverRateLimitStore(
                    leases.over(
                            properties.rememberRejections()
                                    ? new RejectionCachingRateLimitStore(
                                            shared, instrumented.cachedRejections(), rejections)
                                    : shared,
                            properties.timeout()),
                    local,
                    events::publish,
                    name);
            if (name != null) {
                instrumented.state(name, store::isAvailable);
            }
            return store;
        }

        RoutingRateLimitStore routing(GuardedRedis first, RedisStoreProperties properties, RedisServers servers) {
            FailoverRateLimitStore byDefault = failover(first, properties, RedisServerProperties.DEFAULT);
            Map<String, FailoverRateLimitStore> others = new LinkedHashMap<>();
            servers.byId()
                    .forEach((id, server) ->
                            others.put(id, failover(server.guarded(), server.properties(), server.name())));
            List<FailoverRateLimitStore> all = new ArrayList<>(others.values());
            all.add(byDefault);
            // Asks each of them, because asking begins a check.
            instrumented.state(() ->
                    all.stream().filter(FailoverRateLimitStore::isAvailable).count() == all.size());
            boolean remember = properties.rememberRejections()
                    && servers.byId().values().stream()
                            .allMatch(server -> server.properties().rememberRejections());
            return RoutingRateLimitStore.byServer(
                    byDefault,
                    others,
                    store -> remember
                            ? new RejectionCachingRateLimitStore(store, instrumented.cachedRejections(), rejections)
                            : store);
        }
    }

    @Bean("rateLimitDefaultStore")
    @ConditionalOnMissingBean
    RateLimitStore inMemoryStore(
            RateLimitProperties properties,
            TimeSource time,
            AlgorithmCatalog algorithms,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        return failingOver(
                inMemoryStore(properties, time, instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE), null),
                algorithms);
    }

    /** Memory never fails, but an algorithm of the application can. */
    private static RateLimitStore failingOver(RateLimitStore memory, AlgorithmCatalog algorithms) {
        return algorithms.isEmpty() ? memory : new FailoverRateLimitStore(memory, memory);
    }

    private static RateLimitStore inMemoryStore(
            RateLimitProperties properties,
            TimeSource time,
            StoreInstrumentation instrumented,
            @Nullable String redis) {
        InMemoryRateLimitStore store =
                new InMemoryRateLimitStore(time, properties.inMemory().maxKeys(), instrumented.evictions());
        instrumented.buckets(store::size);
        return instrumented.timed(store, "in_memory", redis);
    }

    /** Returns the kind of the store: {@code redis}, {@value #IN_MEMORY}, or {@value #CUSTOM} for one of the application. */
    static String kind(ListableBeanFactory beans) {
        if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RoutingRateLimitStore.class, true, false).length
                > 0) {
            return "redis";
        }
        boolean own = List.of(
                        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitStore.class, true, false))
                .contains("rateLimitDefaultStore");
        return own ? IN_MEMORY : CUSTOM;
    }

    /** Describes the store for the log. Empty for a store of the application. */
    static Optional<String> describe(ListableBeanFactory beans, RateLimitProperties properties) {
        if (beans.getBeanNamesForType(RoutingRateLimitStore.class, true, false).length > 0) {
            String address = beans.getBeanProvider(StoreWarmUp.class).stream()
                    .map(warmUp -> " at " + warmUp.address())
                    .findFirst()
                    .orElse("");
            return Optional.of("Rate limits are counted in Redis" + address + ", under the key prefix '"
                    + properties.redis().keyPrefix() + "'"
                    + beans.getBeanProvider(RedisServers.class).stream()
                            .map(RedisServers::describe)
                            .collect(Collectors.joining()));
        }
        boolean own = List.of(beans.getBeanNamesForType(RateLimitStore.class, true, false))
                .contains("rateLimitDefaultStore");
        return own ? Optional.of("Rate limits are counted in memory, by each instance on its own") : Optional.empty();
    }

    /** Connects a store while the other beans are created, so that the first call does not have to. */
    interface StoreWarmUp {

        /** Returns where the store is, for the log. */
        String address();

        /** Waits for the end of the warm-up, for a limited time. */
        void await();
    }
}
