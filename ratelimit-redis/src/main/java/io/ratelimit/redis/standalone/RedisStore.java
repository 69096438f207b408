package io.ratelimit.redis.standalone;

import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Counts in Redis, for applications without Spring Boot. While Redis fails, each limit applies its
 * {@linkplain io.ratelimit.RateLimitBuilder#onStoreFailure policy}. Leases and changes while running need the starter.
 *
 * <pre>{@code
 * try (RedisStore redis = RedisStore.over(connectionFactory)) {
 *     RateLimiterRegistry limits = RateLimiters.over(redis.store(), limit);
 * }
 * }</pre>
 */
public final class RedisStore implements AutoCloseable {

    private static final String KEY_PREFIX = "ratelimit";

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final long MOST_BUCKETS = 100_000;

    private final RedisConnector connector;

    private final GuardedRedis redis;

    private final RateLimitStore store;

    private RedisStore(RedisConnector connector, String keyPrefix, Duration timeout) {
        this.connector = connector;
        this.redis = new GuardedRedis(connector, timeout, keyPrefix);
        RateLimitStore memory = new InMemoryRateLimitStore(TimeSource.monotonic(), MOST_BUCKETS);
        this.store = RoutingRateLimitStore.byScope(
                new FailoverRateLimitStore(
                        new RejectionCachingRateLimitStore(new RedisRateLimitStore(redis, keyPrefix)), memory),
                memory);
    }

    /**
     * Connects with the settings that are the starter's defaults: buckets are below {@code ratelimit:}, and a decision takes at
     * most 100 ms.
     *
     * @param connections as for {@link #over(RedisConnectionFactory, String, Duration)}
     */
    public static RedisStore over(RedisConnectionFactory connections) {
        return over(connections, KEY_PREFIX, TIMEOUT);
    }

    /**
     * Connects to the servers of these connections, and waits for two seconds at most: later calls find the connection as soon as
     * there is one. Of Lettuce, only the servers, the credentials and TLS are used, for a connection of its own.
     *
     * @param connections initialized; closed by the caller, after this store
     * @param keyPrefix of the buckets, the same in all programs that share them
     * @param timeout the longest time of a decision
     */
    public static RedisStore over(RedisConnectionFactory connections, String keyPrefix, Duration timeout) {
        RedisConnector connector =
                new RedisConnector(connections, timeout, RateLimitScript.load(), RateLimitLibrary.load(List.of()));
        RedisStore store = new RedisStore(connector, keyPrefix, timeout);
        connector.connect();
        return store;
    }

    /** Returns what counts. */
    public RateLimitStore store() {
        return store;
    }

    /** Releases what running calls hold, sends what waits, and closes the connection. Waits for seconds at most. */
    @Override
    public void close() {
        try {
            redis.stop();
        } finally {
            redis.destroy();
            connector.destroy();
        }
    }
}
