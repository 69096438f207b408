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
 * Connects to Redis and warms up the path of decisions, for at most two seconds altogether. By a circuit breaker of its own,
 * so that what is slow in a cold JVM is not held against the server. Nothing that goes wrong stops the start-up.
 */
final class RedisWarmUp implements StoreWarmUp {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** The longest that one decision takes. */
    private static final Duration CALL = Duration.ofMillis(250);

    private static final int BUCKETS = 100;

    /** No limit can be called so: its buckets are nobody's. */
    private static final String KEYS = ":%warm-up";

    private final RedisConnector connector;

    private final String keyPrefix;

    RedisWarmUp(RedisConnector connector, String keyPrefix) {
        this.connector = connector;
        this.keyPrefix = keyPrefix;
    }

    @Override
    public void warmUp() {
        Deadline deadline = new Deadline(System.nanoTime() + PATIENCE.toNanos());
        try {
            warmUp(new InMemoryRateLimitStore(TimeSource.monotonic(), BUCKETS), deadline);
            if (connector.connect(deadline.left())) {
                warmUpRedis(deadline);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "The warm-up has ended early", ex);
        }
    }

    private void warmUpRedis(Deadline deadline) throws Exception {
        GuardedRedis redis = new GuardedRedis(connector, CALL, keyPrefix + KEYS);
        try {
            redis.warmUp(deadline.left());
            warmUp(new RejectionCachingRateLimitStore(new RedisRateLimitStore(redis, keyPrefix + KEYS)), deadline);
        } finally {
            redis.destroy();
        }
    }

    private static void warmUp(RateLimitStore store, Deadline deadline) throws Exception {
        int decided = new DecisionWarmUp(store).run(deadline.left().minus(CALL));
        logger.log(
                Level.DEBUG,
                "Warmed up with " + decided + " decisions of "
                        + store.getClass().getSimpleName());
    }

    private record Deadline(long nanos) {

        Duration left() {
            return Duration.ofNanos(Math.max(0, nanos - System.nanoTime()));
        }
    }
}
