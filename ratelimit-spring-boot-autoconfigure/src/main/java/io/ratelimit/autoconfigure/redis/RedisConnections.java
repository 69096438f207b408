package io.ratelimit.autoconfigure.redis;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.connection.RedisConnector;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/** Connects to the Redis of the application, or to one for rate limits alone, as the properties of a server say. */
public record RedisConnections(
        ListableBeanFactory beans, AlgorithmCatalog algorithms, ObjectProvider<SslBundles> bundles) {

    /**
     * Connects to a server.
     *
     * @param property the prefix of the properties
     */
    public RedisConnector connect(String property, RedisStoreProperties redis) {
        redis.checkAddress(property);
        return connector(property, redis).by(redis.clock());
    }

    private RedisConnector connector(String property, RedisStoreProperties redis) {
        if (redis.connectionFactory() != null || (!redis.isDedicated() && hasConnectionFactory())) {
            return new RedisConnector(
                    connectionFactory(property, redis.connectionFactory()),
                    redis.timeout(),
                    redis.script(algorithms),
                    redis.library(algorithms));
        }
        if (!ClassUtils.isPresent("io.lettuce.core.RedisClient", getClass().getClassLoader())) {
            throw new RateLimitConfigurationException(
                    redis.isDedicated()
                            ? property + " must have no connection properties without Lettuce on the class path."
                            : "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Configure spring.data.redis instead, or add io.lettuce:lettuce-core (with"
                            + " spring.data.redis.client-type=jedis, your own commands still use Jedis).");
        }
        return new DedicatedRedis(property, redis).connect(algorithms, bundles);
    }

    /**
     * Connects to the further servers.
     *
     * @param first the properties of {@code ratelimit.redis}
     * @param executor of the first
     */
    public RedisServers servers(Environment environment, RedisStoreProperties first, RateLimitScriptExecutor executor) {
        Map<String, RedisServers.Server> servers = new LinkedHashMap<>();
        servers.put(
                RedisServerProperties.DEFAULT, new RedisServers.Server(RedisServerProperties.DEFAULT, first, executor));
        RedisServerProperties.bind(environment, first, BindHandler.DEFAULT).forEach((name, redis) -> {
            RedisConnector connector = connect(RedisServerProperties.property(name), redis);
            servers.put(LimitNames.canonical(name), new RedisServers.Server(name, redis, connector));
        });
        return new RedisServers(
                servers,
                executor instanceof RedisConnector connector
                        ? new RedisWarmUp(connector, first.keyPrefix(), algorithms)
                        : null);
    }

    private boolean hasConnectionFactory() {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class).length > 0;
    }

    private RedisConnectionFactory connectionFactory(String property, @Nullable String name) {
        List<String> names = Arrays.stream(beans.getBeanNamesForType(RedisConnectionFactory.class))
                .sorted()
                .toList();
        if (name != null && names.contains(name)) {
            return beans.getBean(name, RedisConnectionFactory.class);
        }
        RedisConnectionFactory only = name == null
                ? beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique()
                : null;
        if (only == null) {
            throw new RateLimitConfigurationException(
                    property
                            + (name == null
                                    ? ".connection-factory must be set if none of several RedisConnectionFactory beans is primary."
                                    : ".connection-factory must be the name of a RedisConnectionFactory bean (was \""
                                            + name + "\")."),
                    "Set it to one of: " + String.join(", ", names) + ".");
        }
        return only;
    }
}
