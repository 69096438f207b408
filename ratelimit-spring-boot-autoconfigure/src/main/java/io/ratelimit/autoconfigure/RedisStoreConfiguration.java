package io.ratelimit.autoconfigure;

import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import io.ratelimit.autoconfigure.properties.OnRedisStore;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.RedisConnections;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.event.publisher.RateLimitEventPublisher;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.statistics.InstanceCount;
import io.ratelimit.internal.statistics.SharedStatistics;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.internal.store.failover.LocalShareStore;
import io.ratelimit.internal.store.rejection.RejectionCache;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.change.RedisChangeChannel;
import io.ratelimit.redis.change.RedisOverrideRepository;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.statistics.RedisStatistics;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.RedisOperations;

/** Configures the store in Redis, with memory for failures, and what else uses its connection. */
@Configuration(proxyBeanMethods = false)
@Conditional({OnStoreOfThisContext.class, OnRedisStore.class})
@ConditionalOnClass(RedisOperations.class)
class RedisStoreConfiguration {

    /** The server of decisions in memory, where others are in several servers: Prometheus wants the same tags of all. */
    private static final String NO_SERVER = "none";

    @Bean
    RedisConnections rateLimitRedisConnections(
            ListableBeanFactory beans, AlgorithmCatalog algorithms, ObjectProvider<SslBundles> bundles) {
        return new RedisConnections(beans, algorithms, bundles);
    }

    @Bean
    @ConditionalOnMissingBean(RateLimitScriptExecutor.class)
    RedisConnector rateLimitScriptExecutor(RedisConnections connections, RateLimitProperties properties) {
        return connections.connect("ratelimit.redis", properties.redis());
    }

    @Bean
    RedisServers rateLimitRedisServers(
            RedisConnections connections,
            RateLimitScriptExecutor executor,
            Environment environment,
            RateLimitProperties properties) {
        return connections.servers(environment, properties.redis(), executor);
    }

    @Bean
    RateLimitLifecycle.Part rateLimitRedisPart(RedisServers servers) {
        return new RateLimitLifecycle.Part(RateLimitLifecycle.Stage.REDIS, servers::start, servers::stop);
    }

    @Bean
    InstanceCount rateLimitInstanceCount() {
        return new InstanceCount();
    }

    /** The return type tells conditions that the bean is a {@link io.ratelimit.spi.StoreHealth}. */
    @Bean(StoreConfiguration.DEFAULT_STORE)
    @ConditionalOnMissingBean(RateLimitStore.class)
    RoutingRateLimitStore rateLimitRedisStore(
            RateLimitProperties properties,
            TimeSource time,
            AlgorithmCatalog algorithms,
            RedisServers servers,
            InstanceCount instances,
            RateLimitEventPublisher events,
            ObjectProvider<ChangeChannel> channel,
            ObjectProvider<StoreInstrumentation> instrumentation) {
        StoreInstrumentation instrumented = instrumentation.getIfAvailable(() -> StoreInstrumentation.NONE);
        RateLimitStore memory = StoreConfiguration.inMemoryStore(
                properties, time, instrumented, servers.areSeveral() ? NO_SERVER : null);
        RateLimitStore local =
                properties.share().equals(LocalShare.WHOLE) ? memory : new LocalShareStore(memory, instances::get);
        return servers.store(
                new RedisServers.Layers(instrumented, local, new RejectionCache(System::nanoTime), events, channel),
                StoreConfiguration.failingOver(memory, algorithms));
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    RedisChangeChannel rateLimitChangeChannel(RedisConnector connector, RateLimitProperties properties) {
        return new RedisChangeChannel(connector, properties.redis().keyPrefix());
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    RateLimitLifecycle.Part rateLimitMessagePart(RedisChangeChannel channel) {
        return new RateLimitLifecycle.Part(RateLimitLifecycle.Stage.MESSAGES, channel::start, channel::stop);
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    OverrideSynchronizer rateLimitOverrides(
            RedisConnector connector, RedisChangeChannel channel, RateLimitProperties properties) {
        return OverrideSynchronizer.of(
                RedisOverrideRepository.of(connector, properties.redis().keyPrefix(), channel), channel);
    }

    /** Only for {@link RateLimitStatisticsAutoConfiguration}, which asks for it. */
    @Bean
    @Lazy
    @ConditionalOnBean(RedisConnector.class)
    @ConditionalOnMissingBean
    SharedStatistics rateLimitSharedStatistics(RedisConnector connector, RateLimitProperties properties) {
        return new RedisStatistics(connector, properties.redis().keyPrefix());
    }
}
