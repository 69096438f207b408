package io.ratelimit.redis.connection;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Optional;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The application's, but for what a limiter wants: while there is no connection a command fails at once, none is ever sent
 * twice, a bounded number waits, and a master that is new is found soon.
 *
 * @param timeout of a decision
 * @param resources in the place of the application's
 */
record DedicatedClientConfiguration(
        LettuceClientConfiguration users, Duration timeout, Optional<ClientResources> resources)
        implements LettuceClientConfiguration {

    /** More calls than that are not under way but to a server that hangs. */
    private static final int QUEUE = 10_000;

    private static final Duration SHORTEST_HANDSHAKE = Duration.ofMillis(500);

    private static final Duration CONNECT = Duration.ofSeconds(2);

    private static final Duration REFRESH = Duration.ofMillis(500);

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
                .replayFilter(DedicatedClientConfiguration::fail)
                .socketOptions(given.getSocketOptions()
                        .mutate()
                        .connectTimeout(CONNECT)
                        .build());
        return Optional.of(options.topologyRefreshOptions(refreshing(given)).build());
    }

    /** One whose connection was lost may have been carried out: again would be a second charge. */
    private static boolean fail(RedisCommand<?, ?, ?> command) {
        command.completeExceptionally(new RedisConnectionException("Connection lost before the answer"));
        return true;
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
