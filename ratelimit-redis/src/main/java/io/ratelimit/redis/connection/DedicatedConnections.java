package io.ratelimit.redis.connection;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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

    /** How long a reconnect may keep its thread, without the time in which it waits for the server. */
    private static final Duration LONGEST_RECONNECT = Duration.ofMillis(500);

    private final RedisConfiguration servers;

    private final Factory factory;

    private final Optional<ClientResources> resources;

    /** {@code null}: that of the resources. */
    private final @Nullable StoppableTimer own;

    private DedicatedConnections(
            RedisConfiguration servers,
            LettuceClientConfiguration client,
            Duration timeout,
            Optional<ClientResources> resources,
            @Nullable StoppableTimer own) {
        this.servers = servers;
        this.resources = resources;
        this.own = own;
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
                users.getClientConfiguration().getClientResources().map(DedicatedConnections::reconnectingSoon),
                null);
    }

    /** Opens connections to servers for rate limits alone, with threads of their own. */
    static DedicatedConnections to(RedisConfiguration servers, LettuceClientConfiguration client, Duration timeout) {
        StoppableTimer own = new StoppableTimer(new HashedWheelTimer(new DefaultThreadFactory("lettuce-timer", true)));
        ClientResources resources = ClientResources.builder()
                .timer(own)
                .reconnectDelay(Delay.constant(RECONNECT))
                .build();
        return new DedicatedConnections(servers, client, timeout, Optional.of(resources), own);
    }

    /** Shares threads and timer with the application, which shuts them down. */
    private static ClientResources reconnectingSoon(ClientResources users) {
        return users.mutate()
                .eventLoopGroupProvider(users.eventLoopGroupProvider())
                .eventExecutorGroup(users.eventExecutorGroup())
                .timer(new StoppableTimer(users.timer()))
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
        if (own != null) {
            var unused = own.stop();
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

    /** Closes the channel of a connection. Lettuce opens another, and until then commands fail at once. */
    static void disconnect(@Nullable Object connection) {
        if (connection instanceof RedisChannelHandler<?, ?> handler
                && handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
        }
    }

    /**
     * Connects only when told to. Otherwise, a call that finds no connection would wait for a new one, and on an event loop for that
     * loop.
     */
    static final class Factory extends LettuceConnectionFactory {

        /** Of all commands. They fail at once when it is closed. */
        private volatile @Nullable StatefulConnection<byte[], byte[]> current;

        /** The thread that waits for a new connection; {@code null}: there is none. */
        private volatile @Nullable Thread connecting;

        Factory(RedisConfiguration servers, LettuceClientConfiguration client) {
            super(servers, client);
        }

        /** Connects, unless there is a connection. Blocks. */
        synchronized void connect() {
            if (!isRunning()) {
                throw new IllegalStateException("The connections are closed");
            }
            connecting = Thread.currentThread();
            try {
                current = isClusterAware() ? super.getSharedClusterConnection() : super.getSharedConnection();
            } finally {
                connecting = null;
            }
        }

        /** Replaces the connection. Blocks. */
        synchronized void reconnect() {
            resetConnection();
            connect();
        }

        /** Does not wait for a connection to a server that may be silent, whose handshake can take long. */
        @Override
        public void stop() {
            Thread waiting = connecting;
            if (waiting != null) {
                waiting.interrupt();
            }
            stopNow();
        }

        /**
         * Lets a reconnect that has begun use its event loop before that ends. Otherwise, Netty logs an ERROR. None begins
         * meanwhile: its handshake would not end.
         */
        private synchronized void stopNow() {
            AbstractRedisClient client = isRunning() ? getNativeClient() : null;
            if (client != null) {
                resetConnection();
                if (client.getResources().timer() instanceof StoppableTimer timer) {
                    timer.drop();
                }
                awaitReconnects(client.getResources().eventExecutorGroup());
            }
            super.stop();
        }

        private static void awaitReconnects(EventExecutorGroup threads) {
            List<CompletableFuture<Void>> over = new ArrayList<>();
            for (EventExecutor thread : threads) {
                if (!thread.isShuttingDown()) {
                    over.add(Futures.start(() -> CompletableFuture.runAsync(() -> {}, thread)));
                }
            }
            BoundedWait.await(CompletableFuture.allOf(over.toArray(CompletableFuture[]::new)), LONGEST_RECONNECT);
        }

        @Override
        protected @Nullable StatefulRedisConnection<byte[], byte[]> getSharedConnection() {
            return current instanceof StatefulRedisConnection<byte[], byte[]> known
                    ? known
                    : super.getSharedConnection();
        }

        @Override
        protected @Nullable StatefulRedisClusterConnection<byte[], byte[]> getSharedClusterConnection() {
            return current instanceof StatefulRedisClusterConnection<byte[], byte[]> known
                    ? known
                    : super.getSharedClusterConnection();
        }

        /** Returns the connection that all commands use, or {@code null} before the first. */
        @Nullable
        StatefulConnection<byte[], byte[]> current() {
            return current;
        }
    }
}
