package io.ratelimit.redis;

import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A connection of our own to the Redis of the user's connection factory, which remains as it is. While there is no
 * connection a command fails at once. None is ever sent twice, and so many at the most wait for their answers. A
 * connection that is lost is back soon after the server is.
 */
final class OwnConnections implements AutoCloseable {

    private static final Duration RECONNECT = Duration.ofMillis(100);

    private final Factory factory;

    private final Optional<ClientResources> resources;

    private OwnConnections(Factory factory, Optional<ClientResources> resources) {
        this.factory = factory;
        this.resources = resources;
    }

    static OwnConnections like(LettuceConnectionFactory users, Duration timeout) {
        Optional<ClientResources> resources =
                users.getClientConfiguration().getClientResources().map(OwnConnections::reconnectingSoon);
        Factory copy = new Factory(
                servers(users), new OwnClientConfiguration(users.getClientConfiguration(), timeout, resources));
        copy.afterPropertiesSet();
        copy.start();
        return new OwnConnections(copy, resources);
    }

    /** The same threads and timer, which remain the application's to shut down. */
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

    /** Read from the field, because no getter tells all kinds: a static master and replicas look like a standalone. */
    private static RedisConfiguration servers(LettuceConnectionFactory users) {
        Object configured = new DirectFieldAccessor(users).getPropertyValue("configuration");
        return configured instanceof RedisConfiguration servers ? servers : users.getStandaloneConfiguration();
    }

    static boolean arePossible(RedisConnectionFactory users) {
        return users instanceof LettuceConnectionFactory
                && new DirectFieldAccessor(users).isReadableProperty("configuration");
    }

    /** Shows the one connection that all commands to a cluster take. */
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
