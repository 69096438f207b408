package io.ratelimit.autoconfigure;

import io.ratelimit.TimeSource;
import io.ratelimit.autoconfigure.StoreConfiguration.StoreWarmUp;
import io.ratelimit.limiter.DecisionWarmUp;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.GuardedRedis;
import io.ratelimit.redis.RedisRateLimitStore;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.rejection.RejectionCachingRateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Duration;

/**
 * Connects to Redis and warms up the code of decisions, for at most two seconds. Uses a circuit breaker of its own, so that
 * a slow, cold JVM does not count as a failure of the server. A failure does not stop the start-up.
 */
final class RedisWarmUp implements StoreWarmUp {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration MAX_TIME = Duration.ofSeconds(2);

    /** The maximum time for one decision. */
    private static final Duration TIMEOUT = Duration.ofMillis(250);

    private static final int BUCKETS = 100;

    /** Not a valid name of a limit, so that no limit has these buckets. */
    private static final String KEY_SUFFIX = ":%warm-up";

    private final RedisConnector connector;

    private final String keyPrefix;

    RedisWarmUp(RedisConnector connector, String keyPrefix) {
        this.connector = connector;
        this.keyPrefix = keyPrefix;
    }

    @Override
    public void warmUp() {
        long deadline = System.nanoTime() + MAX_TIME.toNanos();
        try {
            warmUp(new InMemoryRateLimitStore(TimeSource.monotonic(), BUCKETS), deadline);
            if (connector.connect(left(deadline))) {
                warmUpRedis(deadline);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "Warm-up ended early", ex);
        }
    }

    private void warmUpRedis(long deadline) throws Exception {
        GuardedRedis redis = new GuardedRedis(connector, TIMEOUT, keyPrefix + KEY_SUFFIX);
        try {
            redis.warmUp(left(deadline));
            warmUp(
                    new RejectionCachingRateLimitStore(new RedisRateLimitStore(redis, keyPrefix + KEY_SUFFIX)),
                    deadline);
        } finally {
            redis.destroy();
        }
    }

    private static void warmUp(RateLimitStore store, long deadline) throws Exception {
        int decided = new DecisionWarmUp(store).run(left(deadline).minus(TIMEOUT));
        logger.log(
                Level.DEBUG,
                "Warmed up with " + decided + " decisions of "
                        + store.getClass().getSimpleName());
    }

    private static Duration left(long deadline) {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }
}
