package io.ratelimit.redis.connection;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Optional;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;

/**
 * Derives the configuration of the starter's own connections from the application's: while there is no connection, a command
 * fails at once, no command is sent twice, a bounded number waits, and a new master is found soon.
 */
final class DedicatedClientConfiguration {

    /** More calls are under way only if a server hangs. */
    private static final int QUEUE = 10_000;

    private static final Duration SHORTEST_HANDSHAKE = Duration.ofMillis(500);

    private static final Duration CONNECT = Duration.ofSeconds(2);

    private static final Duration REFRESH = Duration.ofMillis(500);

    private DedicatedClientConfiguration() {}

    /**
     * @param timeout of a decision
     * @param resources replace those of the application
     */
    static LettuceClientConfiguration of(
            LettuceClientConfiguration users, Duration timeout, Optional<ClientResources> resources) {
        LettuceClientConfigurationBuilder own = LettuceClientConfiguration.builder()
                .commandTimeout(handshakeTimeout(timeout))
                .clientOptions(options(users.getClientOptions().orElseGet(ClusterClientOptions::create)))
                .shutdownTimeout(users.getShutdownTimeout())
                .shutdownQuietPeriod(users.getShutdownQuietPeriod());
        resources.ifPresent(own::clientResources);
        users.getClientName().ifPresent(own::clientName);
        users.getRedisCredentialsProviderFactory().ifPresent(own::redisCredentialsProviderFactory);
        if (users.isUseSsl()) {
            LettuceSslClientConfigurationBuilder ssl = own.useSsl().verifyPeer(users.getVerifyMode());
            if (users.isStartTls()) {
                ssl.startTls();
            }
        }
        return own.build();
    }

    /** The command timeout bounds handshakes only: each decision has a deadline of its own. */
    private static Duration handshakeTimeout(Duration timeout) {
        Duration patient = timeout.multipliedBy(5);
        return patient.compareTo(SHORTEST_HANDSHAKE) < 0 ? SHORTEST_HANDSHAKE : patient;
    }

    private static ClientOptions options(ClientOptions users) {
        return ClusterClientOptions.builder(users)
                .topologyRefreshOptions(refreshing(users))
                .timeoutOptions(TimeoutOptions.create())
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .autoReconnect(true)
                .requestQueueSize(QUEUE)
                .replayFilter(DedicatedClientConfiguration::fail)
                .socketOptions(users.getSocketOptions()
                        .mutate()
                        .connectTimeout(CONNECT)
                        .build())
                .build();
    }

    /** Fails a command whose connection was lost: the server may have run it, so sending it again could charge twice. */
    private static boolean fail(RedisCommand<?, ?, ?> command) {
        command.completeExceptionally(new RedisConnectionException("Connection lost before the answer"));
        return true;
    }

    /** Finds a new master soon, even if the application's own connections do not look for it. */
    @SuppressWarnings("deprecation") // Lettuce 7 enables them all by itself, Lettuce 6 does not.
    private static ClusterTopologyRefreshOptions refreshing(ClientOptions users) {
        ClusterTopologyRefreshOptions.Builder options = ClusterTopologyRefreshOptions.builder()
                .enableAdaptiveRefreshTrigger(RefreshTrigger.values())
                .adaptiveRefreshTriggersTimeout(REFRESH);
        ClusterTopologyRefreshOptions theirs =
                users instanceof ClusterClientOptions cluster ? cluster.getTopologyRefreshOptions() : null;
        if (theirs != null) {
            options.dynamicRefreshSources(theirs.useDynamicRefreshSources())
                    .closeStaleConnections(theirs.isCloseStaleConnections());
            if (theirs.isPeriodicRefreshEnabled()) {
                options.enablePeriodicRefresh(theirs.getRefreshPeriod());
            }
        }
        return options.build();
    }
}
