package io.ratelimit.autoconfigure.redis;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.redis.script.KeyHash;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Properties of the Redis store. The connection properties have the meaning of those of {@code spring.data.redis}; one of
 * them gives rate limits a connection of their own. {@link RedisServerProperties Further servers} have the same ones.
 *
 * @param url URL of the Redis for rate limits alone, such as redis://user:password@host:6379/0, or rediss:// with TLS. Not
 *     combined with host, port, sentinel or cluster.
 * @param host Host of the Redis for rate limits alone. Default: localhost, if another connection property is set.
 * @param port Port of the Redis for rate limits alone. Default: 6379.
 * @param username User name for this Redis.
 * @param password Password for this Redis.
 * @param database Index of the database of this Redis. Default: 0.
 * @param clientName Name of the connections, as CLIENT LIST shows it.
 * @param ssl TLS of the connections to this Redis.
 * @param sentinel Sentinels of the Redis for rate limits alone.
 * @param cluster Cluster for rate limits alone.
 * @param keyPrefix Start of every Redis key, without braces. Applications with the same prefix share the buckets of
 *     limits that have the same name: set it to the application's name if several applications use one Redis.
 * @param hashKeys Whether Redis gets callers' keys as hashes, and not as text. A change makes every bucket full again.
 * @param hashKeysSecret Secret of these hashes, the same for all instances. Without it, keys that can be guessed, such as
 *     addresses, can be found by trying.
 * @param timeout Maximum time for a decision, independent of the settings of the application's Redis client.
 * @param rememberRejections Whether a call that Redis has rejected is rejected again without Redis, until the time that
 *     Redis named and for a second at most.
 * @param functions Whether calls run as a Redis function if Redis has functions, and not as a script.
 * @param clock Clock that decisions go by: that of the Redis server, or those of the instances, for servers that refuse TIME
 *     within scripts. Clocks of instances that differ admit more.
 * @param connectionFactory Name of the RedisConnectionFactory bean to use. Only needed if there are several and none is
 *     primary.
 */
public record RedisStoreProperties(
        @Nullable String url,
        @Nullable String host,
        @Nullable Integer port,
        @Nullable String username,
        @Nullable String password,
        @Nullable Integer database,
        @Nullable String clientName,
        @Nullable Ssl ssl,
        @Nullable Sentinel sentinel,
        @Nullable Cluster cluster,
        @DefaultValue("ratelimit") String keyPrefix,
        @DefaultValue("false") boolean hashKeys,
        @Nullable String hashKeysSecret,
        @DefaultValue("100ms") Duration timeout,
        @DefaultValue("true") boolean rememberRejections,
        @DefaultValue("true") boolean functions,
        @DefaultValue("server") RedisClock clock,
        @Nullable String connectionFactory) {

    /** Returns the ways in which the properties tell where the server is. */
    List<String> addresses() {
        return Stream.of(
                        url == null ? null : "url",
                        host == null && port == null ? null : "host or port",
                        sentinel == null ? null : "sentinel",
                        cluster == null ? null : "cluster",
                        connectionFactory == null ? null : "connection-factory")
                .filter(Objects::nonNull)
                .toList();
    }

    /** Whether a connection property is set, so that rate limits have a connection of their own. */
    boolean isDedicated() {
        return !addresses().isEmpty()
                || Stream.of(username, password, database, clientName, ssl).anyMatch(Objects::nonNull);
    }

    /** Checks that the servers are named in one way. */
    void checkAddress(String property) {
        if (addresses().size() > 1) {
            throw new RateLimitConfigurationException(
                    property + " must name its servers in one way (was " + String.join(", ", addresses()) + ").",
                    "Set only one of: url, host and port, sentinel, cluster, connection-factory.");
        }
    }

    /** @param property the prefix of the properties, for messages */
    void check(String property) {
        if (keyPrefix.contains("{") || keyPrefix.contains("}")) {
            throw new RateLimitConfigurationException(
                    property + ".key-prefix must not contain braces (was \"" + keyPrefix + "\").",
                    "Remove them: in a cluster, braces in the prefix would put every key into one slot.");
        }
        if (timeout.isZero() || timeout.isNegative()) {
            throw new RateLimitConfigurationException(
                    property + ".timeout must be positive (was " + DurationText.of(timeout) + ").",
                    "Set it to the longest time that a call may wait for Redis, such as 100ms.");
        }
    }

    /** Returns the library of the function, or {@code null} if calls run as a script. */
    @Nullable
    RateLimitLibrary library(AlgorithmCatalog algorithms) {
        return functions ? RateLimitLibrary.load(algorithms.own(), clock) : null;
    }

    /** Returns the script that decides. */
    RedisScript<List<Long>> script(AlgorithmCatalog algorithms) {
        return RateLimitScript.load(algorithms.own(), clock);
    }

    /** Returns how keys are hashed. */
    public KeyHash keyHash() {
        return keyHash("ratelimit.redis");
    }

    /** @param property the prefix of the properties, for messages */
    KeyHash keyHash(String property) {
        if (hashKeysSecret != null && !hashKeys) {
            throw new RateLimitConfigurationException(
                    property + ".hash-keys-secret must not be set without " + property + ".hash-keys=true.",
                    "Set " + property + ".hash-keys=true, or remove the secret.");
        }
        if (!hashKeys) {
            return KeyHash.OF_LONG_KEYS;
        }
        return hashKeysSecret == null ? KeyHash.OF_ALL_KEYS : KeyHash.withSecret(hashKeysSecret);
    }

    /**
     * TLS of the connections to the Redis for rate limits alone.
     *
     * @param enabled Whether the connections use TLS. Default: whether a bundle is set.
     * @param bundle Name of the SSL bundle.
     */
    public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {

        boolean isUsed() {
            return enabled == null ? bundle != null : enabled;
        }
    }

    /**
     * Sentinels of the Redis for rate limits alone.
     *
     * @param master Name of the master.
     * @param nodes Sentinels, as host:port.
     * @param username User name for the sentinels.
     * @param password Password for the sentinels.
     */
    public record Sentinel(
            @Nullable String master,
            @DefaultValue List<String> nodes,
            @Nullable String username,
            @Nullable String password) {}

    /**
     * Cluster for rate limits alone.
     *
     * @param nodes Some nodes of the cluster, as host:port.
     * @param maxRedirects Maximum number of redirects that a command follows.
     */
    public record Cluster(
            @DefaultValue List<String> nodes, @Nullable Integer maxRedirects) {}
}
