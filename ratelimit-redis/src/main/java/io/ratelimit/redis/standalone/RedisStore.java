package io.ratelimit.redis.standalone;

import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.GuardedRedis;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisRateLimitStore;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Counts in Redis, for applications without Spring Boot. While Redis fails, each limit applies its
 * {@linkplain io.ratelimit.RateLimitBuilder#onStoreFailure policy}. Settings are the defaults of the starter: buckets are below
 * {@code ratelimit:}, a decision takes at most 100 ms. Leases and changes while running need the starter.
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

    private RedisStore(RedisConnector connector) {
        this.connector = connector;
        this.redis = new GuardedRedis(connector, TIMEOUT, KEY_PREFIX);
        RateLimitStore memory = new InMemoryRateLimitStore(TimeSource.monotonic(), MOST_BUCKETS);
        this.store = RoutingRateLimitStore.byScope(
                new FailoverRateLimitStore(
                        new RejectionCachingRateLimitStore(new RedisRateLimitStore(redis, KEY_PREFIX)), memory),
                memory);
    }

    /**
     * Connects to the servers of these connections, and waits for two seconds at most: later calls find the connection as soon as
     * there is one. Of Lettuce, only the servers, the credentials and TLS are used, for a connection of its own.
     *
     * @param connections initialized; closed by the caller, after this store
     */
    public static RedisStore over(RedisConnectionFactory connections) {
        RedisConnector connector =
                new RedisConnector(connections, TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load(List.of()));
        RedisStore store = new RedisStore(connector);
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
