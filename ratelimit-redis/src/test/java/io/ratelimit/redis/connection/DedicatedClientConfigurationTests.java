package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/** What is the application's, and what is the starter's whatever the application wants for itself. */
class DedicatedClientConfigurationTests {

    private static final RedisCredentialsProviderFactory CREDENTIALS = new RedisCredentialsProviderFactory() {};

    private final LettuceClientConfiguration users = LettuceClientConfiguration.builder()
            .commandTimeout(Duration.ofHours(1))
            .clientName("application")
            .readFrom(ReadFrom.REPLICA)
            .redisCredentialsProviderFactory(CREDENTIALS)
            .clientOptions(ClusterClientOptions.builder()
                    .autoReconnect(false)
                    .disconnectedBehavior(DisconnectedBehavior.ACCEPT_COMMANDS)
                    .protocolVersion(ProtocolVersion.RESP2)
                    .socketOptions(SocketOptions.builder()
                            .connectTimeout(Duration.ofHours(1))
                            .keepAlive(true)
                            .build())
                    .timeoutOptions(TimeoutOptions.enabled(Duration.ofHours(1)))
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .disableAllAdaptiveRefreshTriggers()
                            .enablePeriodicRefresh(Duration.ofMinutes(7))
                            .dynamicRefreshSources(false)
                            .build())
                    .build())
            .useSsl()
            .startTls()
            .build();

    private final LettuceClientConfiguration own = of(Duration.ofMillis(300));

    private final ClusterClientOptions options =
            (ClusterClientOptions) own.getClientOptions().orElseThrow();

    private LettuceClientConfiguration of(Duration timeout) {
        return DedicatedClientConfiguration.of(users, timeout, Optional.empty());
    }

    @Test
    void whoTheServersAreIsTheApplications() {
        assertThat(own.isUseSsl()).isTrue();
        assertThat(own.isStartTls()).isTrue();
        assertThat(own.getVerifyMode()).isEqualTo(users.getVerifyMode());
        assertThat(own.getClientName()).contains("application");
        assertThat(own.getRedisCredentialsProviderFactory()).containsSame(CREDENTIALS);
        assertThat(options.getProtocolVersion()).isEqualTo(ProtocolVersion.RESP2);
        assertThat(options.getSocketOptions().isKeepAlive()).isTrue();
        assertThat(options.getTopologyRefreshOptions().getRefreshPeriod()).isEqualTo(Duration.ofMinutes(7));
        assertThat(options.getTopologyRefreshOptions().isPeriodicRefreshEnabled())
                .isTrue();
        assertThat(options.getTopologyRefreshOptions().useDynamicRefreshSources())
                .isFalse();
    }

    @Test
    void bucketsAreReadWhereTheyAreWritten() {
        assertThat(own.getReadFrom()).isEmpty();
    }

    @Test
    void connectionThatIsLostIsMadeAgainWhileCommandsAreRefused() {
        assertThat(options.isAutoReconnect()).isTrue();
        assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
        assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void queueIsBounded() {
        assertThat(options.getRequestQueueSize()).isLessThan(ClientOptions.DEFAULT_REQUEST_QUEUE_SIZE);
    }

    @Test
    void commandWhoseConnectionIsLostFailsInsteadOfBeingSentAgain() {
        AsyncCommand<String, String, String> command =
                new AsyncCommand<>(new Command<>(CommandType.EVALSHA, new StatusOutput<>(StringCodec.UTF8)));
        assertThat(options.getReplayFilter().test(command)).isTrue();
        assertThat(command).isCompletedExceptionally();
    }

    @Test
    void onlyHandshakesAreBoundedByTheDriver() {
        assertThat(options.getTimeoutOptions().isTimeoutCommands()).isFalse();
        assertThat(own.getCommandTimeout()).isEqualTo(Duration.ofMillis(1_500));
        assertThat(of(Duration.ofMillis(10)).getCommandTimeout()).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void newMastersAreLookedForEvenIfTheApplicationDoesNot() {
        assertThat(options.getTopologyRefreshOptions().getAdaptiveRefreshTriggers())
                .containsExactlyInAnyOrder(RefreshTrigger.values());
    }
}
