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

/**
 * Opens the starter's own connections: to the Redis of the application's connection factory, which stays as it is, or to a Redis
 * for rate limits alone.
 */
final class DedicatedConnections implements AutoCloseable {

    private static final String CONFIGURATION = "configuration";

    private static final Duration RECONNECT = Duration.ofMillis(100);

    private final RedisConfiguration servers;

    private final Factory factory;

    private final Optional<ClientResources> resources;

    private DedicatedConnections(
            RedisConfiguration servers,
            LettuceClientConfiguration client,
            Duration timeout,
            Optional<ClientResources> resources) {
        this.servers = servers;
        this.resources = resources;
        this.factory = new Factory(servers, DedicatedClientConfiguration.of(client, timeout, resources));
        factory.afterPropertiesSet();
        factory.start();
    }

    /** Opens connections to the given servers, otherwise configured as the application's. */
    static DedicatedConnections like(LettuceConnectionFactory users, RedisConfiguration servers, Duration timeout) {
        return new DedicatedConnections(
                servers,
                users.getClientConfiguration(),
                timeout,
                users.getClientConfiguration().getClientResources().map(DedicatedConnections::reconnectingSoon));
    }

    /** Opens connections to servers for rate limits alone, with threads of their own. */
    static DedicatedConnections to(RedisConfiguration servers, LettuceClientConfiguration client, Duration timeout) {
        ClientResources resources = ClientResources.builder()
                .reconnectDelay(Delay.constant(RECONNECT))
                .build();
        return new DedicatedConnections(servers, client, timeout, Optional.of(resources));
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

    RedisConfiguration servers() {
        return servers;
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
