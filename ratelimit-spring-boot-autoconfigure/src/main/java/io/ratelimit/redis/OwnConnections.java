package io.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * A connection of our own to the Redis of the user's connection factory, which remains as it is. While there is no
 * connection a command fails at once. None is ever sent twice, and so many at the most wait for their answers. A
 * connection that is lost is back soon after the server is.
 */
final class OwnConnections implements AutoCloseable {

    /** More wait for an answer only if a server hangs that many calls a second are made of. */
    private static final int QUEUE = 10_000;

    private static final Duration RECONNECT = Duration.ofMillis(100);

    private static final Duration SHORTEST_HANDSHAKE = Duration.ofMillis(500);

    private static final Duration LONGEST_CONNECT = Duration.ofSeconds(2);

    private static final Duration REFRESH = Duration.ofMillis(500);

    private final LettuceConnectionFactory factory;

    private final Optional<ClientResources> resources;

    private OwnConnections(LettuceConnectionFactory factory, Optional<ClientResources> resources) {
        this.factory = factory;
        this.resources = resources;
    }

    static OwnConnections like(LettuceConnectionFactory users, Duration timeout) {
        Optional<ClientResources> resources =
                users.getClientConfiguration().getClientResources().map(OwnConnections::reconnectingSoon);
        LettuceConnectionFactory copy = new LettuceConnectionFactory(
                servers(users), new Bounded(users.getClientConfiguration(), timeout, resources));
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

    LettuceConnectionFactory factory() {
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

    private record Bounded(LettuceClientConfiguration users, Duration timeout, Optional<ClientResources> resources)
            implements LettuceClientConfiguration {

        /** Bounds handshakes. Each decision has a deadline of its own. */
        @Override
        public Duration getCommandTimeout() {
            Duration patient = timeout.multipliedBy(5);
            return patient.compareTo(SHORTEST_HANDSHAKE) < 0 ? SHORTEST_HANDSHAKE : patient;
        }

        @Override
        public Optional<ClientOptions> getClientOptions() {
            ClientOptions given = users.getClientOptions().orElseGet(ClusterClientOptions::create);
            ClusterClientOptions.Builder options = ClusterClientOptions.builder(given);
            options.timeoutOptions(TimeoutOptions.create())
                    .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                    .autoReconnect(true)
                    .requestQueueSize(QUEUE)
                    .replayFilter(Bounded::fail)
                    .socketOptions(connectingSoon(given.getSocketOptions()));
            return Optional.of(options.topologyRefreshOptions(refreshing(given)).build());
        }

        /** One whose connection was lost may have been carried out: again would be a second charge. */
        private static boolean fail(RedisCommand<?, ?, ?> command) {
            command.completeExceptionally(new RedisConnectionException("Connection lost before the answer"));
            return true;
        }

        private static SocketOptions connectingSoon(SocketOptions given) {
            return given.getConnectTimeout().compareTo(LONGEST_CONNECT) <= 0
                    ? given
                    : given.mutate().connectTimeout(LONGEST_CONNECT).build();
        }

        /** So that a master that is new is found soon, also where the application's own connections do not look for it. */
        @SuppressWarnings("deprecation") // Lettuce 7 enables them all by itself, Lettuce 6 does not.
        private static ClusterTopologyRefreshOptions refreshing(ClientOptions given) {
            ClusterTopologyRefreshOptions.Builder options = ClusterTopologyRefreshOptions.builder()
                    .enableAdaptiveRefreshTrigger(RefreshTrigger.values())
                    .adaptiveRefreshTriggersTimeout(REFRESH);
            ClusterTopologyRefreshOptions theirs =
                    given instanceof ClusterClientOptions cluster ? cluster.getTopologyRefreshOptions() : null;
            if (theirs != null) {
                options.dynamicRefreshSources(theirs.useDynamicRefreshSources())
                        .closeStaleConnections(theirs.isCloseStaleConnections());
                if (theirs.isPeriodicRefreshEnabled()) {
                    options.enablePeriodicRefresh(theirs.getRefreshPeriod());
                }
            }
            return options.build();
        }

        @Override
        public boolean isUseSsl() {
            return users.isUseSsl();
        }

        @Override
        @Deprecated
        public boolean isVerifyPeer() {
            return users.isVerifyPeer();
        }

        @Override
        public SslVerifyMode getVerifyMode() {
            return users.getVerifyMode();
        }

        @Override
        public boolean isStartTls() {
            return users.isStartTls();
        }

        @Override
        public Optional<ClientResources> getClientResources() {
            return resources;
        }

        @Override
        public Optional<String> getClientName() {
            return users.getClientName();
        }

        /** Buckets are read where they are written. */
        @Override
        public Optional<ReadFrom> getReadFrom() {
            return Optional.empty();
        }

        @Override
        public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
            return users.getRedisCredentialsProviderFactory();
        }

        @Override
        public Duration getShutdownTimeout() {
            return users.getShutdownTimeout();
        }

        @Override
        public Duration getShutdownQuietPeriod() {
            return users.getShutdownQuietPeriod();
        }
    }
}
