package io.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Optional;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * A connection of our own to the Redis of the user's connection factory. A command on it waits no longer than our
 * timeout, whatever the user's own commands may take; while there is no connection it fails at once, and one that timed
 * out is not sent again.
 */
final class BoundedConnections {

    private BoundedConnections() {}

    /** The same servers, credentials and resources with our timeout. The caller closes it. */
    static LettuceConnectionFactory copyOf(LettuceConnectionFactory users, Duration timeout) {
        LettuceConnectionFactory copy =
                new LettuceConnectionFactory(servers(users), new Bounded(users.getClientConfiguration(), timeout));
        copy.afterPropertiesSet();
        copy.start();
        return copy;
    }

    /** Read from the field, because no getter tells all kinds: a static master and replicas look like a standalone. */
    private static RedisConfiguration servers(LettuceConnectionFactory users) {
        Object configured = new DirectFieldAccessor(users).getPropertyValue("configuration");
        return configured instanceof RedisConfiguration servers ? servers : users.getStandaloneConfiguration();
    }

    static boolean isBoundable(RedisConnectionFactory users) {
        return users instanceof LettuceConnectionFactory
                && new DirectFieldAccessor(users).isReadableProperty("configuration");
    }

    private record Bounded(LettuceClientConfiguration users, Duration timeout) implements LettuceClientConfiguration {

        @Override
        public Duration getCommandTimeout() {
            return timeout;
        }

        @Override
        public Optional<ClientOptions> getClientOptions() {
            ClientOptions.Builder options = users.getClientOptions()
                    .orElseGet(ClusterClientOptions::create)
                    .mutate();
            return Optional.of(options.timeoutOptions(TimeoutOptions.enabled(timeout))
                    .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                    .build());
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
            return users.getClientResources();
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
