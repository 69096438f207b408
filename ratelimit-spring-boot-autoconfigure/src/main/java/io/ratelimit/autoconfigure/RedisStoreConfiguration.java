package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.change.RedisChangeChannel;
import io.ratelimit.redis.change.RedisChangeScript;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;

/** Configures the connection to Redis, if it is the store. */
@Configuration(proxyBeanMethods = false)
@Conditional({OnStoreOfThisContext.class, RedisStoreConfiguration.OnRedisStore.class})
@ConditionalOnClass(RedisOperations.class)
class RedisStoreConfiguration {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    @Bean
    @ConditionalOnMissingBean(RateLimitScriptExecutor.class)
    RedisConnector rateLimitScriptExecutor(
            ListableBeanFactory beans,
            RateLimitProperties properties,
            AlgorithmCatalog algorithms,
            ObjectProvider<SslBundles> bundles) {
        return connect(beans, "ratelimit.redis", properties.redis(), algorithms, bundles);
    }

    /** @param property the prefix of the properties */
    private static RedisConnector connect(
            ListableBeanFactory beans,
            String property,
            RedisStoreProperties redis,
            AlgorithmCatalog algorithms,
            ObjectProvider<SslBundles> bundles) {
        redis.checkAddress(property);
        boolean ofApplication = redis.connectionFactory() != null
                || (!redis.isDedicated() && hasConnectionFactory(beans));
        return ofApplication
                ? new RedisConnector(
                        connectionFactory(beans, property, redis.connectionFactory()),
                        redis.timeout(),
                        RateLimitScript.load(algorithms.own()),
                        redis.library(algorithms))
                : DedicatedRedis.connect(property, redis, algorithms, bundles);
    }

    private static boolean hasConnectionFactory(ListableBeanFactory beans) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class).length > 0;
    }

    private static RedisConnectionFactory connectionFactory(
            ListableBeanFactory beans, String property, @Nullable String name) {
        List<String> names = Arrays.stream(beans.getBeanNamesForType(RedisConnectionFactory.class))
                .sorted()
                .toList();
        if (name != null && !names.contains(name)) {
            throw new RateLimitConfigurationException(
                    property + ".connection-factory must be the name of a RedisConnectionFactory bean (was \"" + name
                            + "\").",
                    "Set it to one of: " + String.join(", ", names) + ".");
        }
        if (name != null) {
            return beans.getBean(name, RedisConnectionFactory.class);
        }
        RedisConnectionFactory only =
                beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
        if (only == null) {
            throw new RateLimitConfigurationException(
                    property
                            + ".connection-factory must be set if none of several RedisConnectionFactory beans is primary.",
                    "Set it to one of: " + String.join(", ", names) + ".");
        }
        return only;
    }

    @Bean
    @ConditionalOnBean(RateLimitScriptExecutor.class)
    GuardedRedis rateLimitRedis(RateLimitScriptExecutor executor, RateLimitProperties properties) {
        return new GuardedRedis(
                executor, properties.redis().timeout(), properties.redis().keyPrefix());
    }

    @Bean
    RedisServers rateLimitRedisServers(
            ListableBeanFactory beans,
            Environment environment,
            RateLimitProperties properties,
            AlgorithmCatalog algorithms,
            ObjectProvider<SslBundles> bundles) {
        Map<String, RedisServers.Server> servers = new LinkedHashMap<>();
        RedisServerProperties.bind(environment, properties.redis(), BindHandler.DEFAULT)
                .forEach((name, redis) -> {
                    String property = RedisServerProperties.property(name);
                    RedisConnector connector = connect(beans, property, redis, algorithms, bundles);
                    servers.put(LimitNames.canonical(name), new RedisServers.Server(name, redis, connector));
                });
        return new RedisServers(servers);
    }

    @Bean
    RateLimitLifecycle.Part rateLimitRedisPart(
            ObjectProvider<RedisConnector> connector, ObjectProvider<GuardedRedis> guarded, RedisServers servers) {
        return new RateLimitLifecycle.Part(
                RateLimitLifecycle.Stage.REDIS,
                () -> {
                    connector.ifAvailable(RedisConnector::start);
                    guarded.ifAvailable(GuardedRedis::start);
                    servers.start();
                },
                () -> {
                    guarded.ifAvailable(GuardedRedis::stop);
                    servers.stop();
                    connector.ifAvailable(RedisConnector::stop);
                });
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    RedisWarmUp rateLimitRedisWarmUp(
            RedisConnector connector, RateLimitProperties properties, AlgorithmCatalog algorithms) {
        return new RedisWarmUp(connector, properties.redis().keyPrefix(), algorithms);
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
    BucketMessages rateLimitReleaseMessages(RedisChangeChannel channel) {
        return new BucketMessages(channel, BucketMessages.RELEASED);
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    OverrideSynchronizer rateLimitOverrides(
            RedisConnector connector, RedisChangeChannel channel, RateLimitProperties properties) {
        return OverrideSynchronizer.shared(
                new RedisChangeScript(connector, properties.redis().keyPrefix()), channel);
    }

    /** A script executor of the application runs the script that decides, and not that of overrides. */
    @Bean
    @ConditionalOnBean(RateLimitScriptExecutor.class)
    @ConditionalOnMissingBean
    OverrideSynchronizer rateLimitOverridesBesideOwnExecutor() {
        logger.log(
                Level.INFO,
                "Overrides of rate limits apply to this instance alone, because a RateLimitScriptExecutor bean replaces the"
                        + " starter's connection to Redis");
        return OverrideSynchronizer.ofThisInstance();
    }

    /** Not in {@link StoreConfiguration}, whose methods are read without Redis, too. */
    static RateLimitStore store(
            GuardedRedis redis,
            RedisStoreProperties properties,
            ObjectProvider<BucketMessages> releases,
            StoreInstrumentation instrumented) {
        RedisRateLimitStore store = new RedisRateLimitStore(redis, properties.keyPrefix(), properties.keyHash());
        releases.ifAvailable(messages -> store.onAwaitedRelease(charge -> messages.send(charge.limit(), charge.key())));
        store.onLostPermits(instrumented.lostPermits());
        store.onLostSettlement(instrumented.lostSettlements());
        return store;
    }

    /** As early as conditions on classes, and declared before them, so that no class of Redis is loaded for another store. */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class OnRedisStore extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            RateLimitProperties.StoreType store = store(context.getEnvironment());
            return new ConditionOutcome(
                    store == RateLimitProperties.StoreType.REDIS,
                    ConditionMessage.forCondition("ratelimit.store").because("is " + store));
        }

        static RateLimitProperties.StoreType store(Environment environment) {
            return Binder.get(environment)
                    .bind("ratelimit.store", RateLimitProperties.StoreType.class)
                    .orElse(RateLimitProperties.StoreType.REDIS);
        }
    }
}
