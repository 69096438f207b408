package io.ratelimit.redis.connection;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.ProtocolVersion;
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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Opens the starter's own connections: to the Redis of the application's connection factory, which stays as it is, or to a Redis
 * for rate limits alone. Connects only when told to. Otherwise, a call that finds no connection would wait for a new one, and on
 * an event loop for that loop.
 */
final class DedicatedConnections extends LettuceConnectionFactory {

    private static final Pattern CLOSED = Pattern.compile("closed prematurely|reset");

    private static final Duration RECONNECT = Duration.ofMillis(100);

    /** How long a reconnect may keep its thread, without the time in which it waits for the server. */
    private static final Duration LONGEST_RECONNECT = Duration.ofMillis(500);

    /** That of threads and timers of its own; {@code null}: they are the application's. */
    private final @Nullable StoppableTimer own;

    /** Of all commands. They fail at once when it is closed. */
    private volatile @Nullable StatefulConnection<byte[], byte[]> current;

    /** Why the last attempt to connect has failed, such as the server's reply to a password; {@code null}: it has not. */
    private volatile @Nullable RuntimeException failure;

    /** The thread that waits for a new connection; {@code null}: there is none. */
    private volatile @Nullable Thread connecting;

    private DedicatedConnections(
            RedisConfiguration servers, LettuceClientConfiguration client, @Nullable StoppableTimer own) {
        super(servers, client);
        this.own = own;
        afterPropertiesSet();
        start();
    }

    /** Opens connections to the servers, otherwise configured as the application's, and shares its threads. */
    static DedicatedConnections like(LettuceConnectionFactory users, RedisConfiguration servers, Duration timeout) {
        LettuceClientConfiguration client = users.getClientConfiguration();
        Optional<ClientResources> resources = client.getClientResources().map(DedicatedConnections::reconnectingSoon);
        return new DedicatedConnections(servers, DedicatedClientConfiguration.of(client, timeout, resources), null);
    }

    /** Opens connections to servers for rate limits alone, with threads of their own. */
    static DedicatedConnections to(RedisConfiguration servers, LettuceClientConfiguration client, Duration timeout) {
        StoppableTimer own = new StoppableTimer(new HashedWheelTimer(new DefaultThreadFactory("lettuce-timer", true)));
        ClientResources resources = ClientResources.builder()
                .timer(own)
                .reconnectDelay(Delay.constant(RECONNECT))
                .build();
        return new DedicatedConnections(
                servers, DedicatedClientConfiguration.of(client, timeout, Optional.of(resources)), own);
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

    /** Connects, unless there is a connection. Blocks. */
    synchronized void connect() {
        if (!isRunning()) {
            throw new IllegalStateException("The connections are closed");
        }
        connecting = Thread.currentThread();
        try {
            current = Objects.requireNonNull(
                    isClusterAware() ? super.getSharedClusterConnection() : super.getSharedConnection());
            failure = null;
        } catch (RuntimeException ex) {
            failure = ex;
            if (current == null) {
                changeProtocol(ex);
            }
            throw ex;
        } finally {
            connecting = null;
        }
    }

    /** If the connection was closed at its greeting, as by a proxy that has no HELLO, speaks the other protocol at the next attempt. */
    private void changeProtocol(RuntimeException thrown) {
        ClientOptions first = getClientConfiguration().getClientOptions().orElseThrow();
        if (first.getConfiguredProtocolVersion() == null
                && getNativeClient() instanceof RedisClient client
                && CLOSED.matcher(String.valueOf(NestedExceptionUtils.getMostSpecificCause(thrown)
                                .getMessage()))
                        .find()) {
            ClientOptions older =
                    first.mutate().protocolVersion(ProtocolVersion.RESP2).build();
            client.setOptions(client.getOptions() == first ? older : first);
        }
    }

    /** Replaces the connection. Blocks. */
    synchronized void reconnect() {
        resetConnection();
        connect();
    }

    /** Returns the commands of the connection, which Lettuce opens again by itself. They never block. */
    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        StatefulConnection<byte[], byte[]> known = current;
        if (failure == null && known instanceof StatefulRedisConnection<byte[], byte[]> server) {
            return server.async();
        }
        if (failure == null && known instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            return cluster.async();
        }
        throw new RedisConnectionFailureException("No connection yet", failure);
    }

    /** Returns the connection that all commands use, or {@code null} before the first. */
    @Nullable
    StatefulConnection<byte[], byte[]> current() {
        return current;
    }

    /** Closes the channel of a connection. Lettuce opens another, and until then commands fail at once. */
    static void disconnect(@Nullable Object connection) {
        if (connection instanceof RedisChannelHandler<?, ?> handler
                && handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
        }
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
        List<EventExecutor> running = new ArrayList<>();
        threads.forEach(running::add);
        running.removeIf(EventExecutor::isShuttingDown);
        CompletableFuture<Void> over =
                Futures.forAll(running, thread -> Futures.start(() -> CompletableFuture.runAsync(() -> {}, thread)));
        BoundedWait.await(over, LONGEST_RECONNECT);
    }

    /** Ends for good. Threads and timers that are the application's go on. */
    @Override
    public void destroy() {
        super.destroy();
        getClientConfiguration().getClientResources().ifPresent(resources -> {
            var unused = resources.shutdown(0, 0, TimeUnit.SECONDS);
        });
        if (own != null) {
            var unused = own.stop();
        }
    }

    @Override
    protected @Nullable StatefulRedisConnection<byte[], byte[]> getSharedConnection() {
        return current instanceof StatefulRedisConnection<byte[], byte[]> known ? known : super.getSharedConnection();
    }

    @Override
    protected @Nullable StatefulRedisClusterConnection<byte[], byte[]> getSharedClusterConnection() {
        return current instanceof StatefulRedisClusterConnection<byte[], byte[]> known
                ? known
                : super.getSharedClusterConnection();
    }
}
