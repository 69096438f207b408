package io.ratelimit.redis.connection;

import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Opens the starter's own connections to the Redis of the application's connection factory, which stays as it is. */
final class DedicatedConnections implements AutoCloseable {

    private static final String CONFIGURATION = "configuration";

    private static final Duration RECONNECT = Duration.ofMillis(100);

    private final Factory factory;

    private final Optional<ClientResources> resources;

    private DedicatedConnections(Factory factory, Optional<ClientResources> resources) {
        this.factory = factory;
        this.resources = resources;
    }

    /** Opens connections to the given servers, otherwise configured as the application's. */
    static DedicatedConnections like(LettuceConnectionFactory users, RedisConfiguration servers, Duration timeout) {
        Optional<ClientResources> resources =
                users.getClientConfiguration().getClientResources().map(DedicatedConnections::reconnectingSoon);
        Factory copy = new Factory(
                servers, DedicatedClientConfiguration.of(users.getClientConfiguration(), timeout, resources));
        copy.afterPropertiesSet();
        copy.start();
        return new DedicatedConnections(copy, resources);
    }

    /** Shares threads and timer with the application, which shuts them down. */
    private static ClientResources reconnectingSoon(ClientResources users) {
        return users.mutate()
                .eventLoopGroupProvider(users.eventLoopGroupProvider())
                .eventExecutorGroup(users.eventExecutorGroup())
                .timer(users.timer())
                .commandLatencyRecorder(users.commandLatencyRecorder())
                .reconnectDelay(Delay.constant(RECONNECT))
                .build();
    }

    Factory factory() {
        return factory;
    }

    @Override
    public void close() {
        factory.destroy();
        if (resources.isPresent()) {
            var unused = resources.get().shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    /**
     * Returns the servers of the application's connections, or {@code null} if they cannot be determined. Reads a field where
     * no getter exists: by its getters, a static master with replicas looks like a standalone server at localhost.
     */
    static @Nullable RedisConfiguration servers(LettuceConnectionFactory users) {
        Object known = Stream.of(
                        users.getSentinelConfiguration(),
                        users.getClusterConfiguration(),
                        users.getSocketConfiguration())
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        DirectFieldAccessor fields = new DirectFieldAccessor(users);
        if (known == null && fields.isReadableProperty(CONFIGURATION)) {
            known = fields.getPropertyValue(CONFIGURATION);
        }
        return known instanceof RedisConfiguration servers ? servers : null;
    }

    /** Exposes the connection that all commands to a cluster use. */
    static final class Factory extends LettuceConnectionFactory {

        Factory(RedisConfiguration servers, LettuceClientConfiguration client) {
            super(servers, client);
        }

        @Nullable
        StatefulRedisClusterConnection<?, ?> cluster() {
            return getSharedClusterConnection();
        }
    }
}
