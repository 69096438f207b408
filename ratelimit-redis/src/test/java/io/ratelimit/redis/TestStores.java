package io.ratelimit.redis;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Stores in a Redis that is well. However busy the machine is, its answers are in time. They are closed at the end of the test
 * class, by {@link RedisLeakDetector}.
 */
final class TestStores {

    private static final Duration LONG = Duration.ofSeconds(20);

    private static final Queue<GuardedRedis> open = new ConcurrentLinkedQueue<>();

    private TestStores() {}

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, String prefix) {
        return over(executor, LONG, prefix);
    }

    /** Each of its calls has a script of its own. */
    static RedisRateLimitStore oneByOne(RateLimitScriptExecutor executor, String prefix) {
        return new RedisRateLimitStore(
                guarded(executor, LONG, prefix), new BucketKeys(prefix), DirectDispatcher::new, PermitRegistry::new);
    }

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return new RedisRateLimitStore(guarded(executor, timeout, prefix), prefix);
    }

    static GuardedRedis guarded(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return closedLater(new GuardedRedis(executor, timeout, prefix));
    }

    static GuardedRedis closedLater(GuardedRedis redis) {
        open.add(redis);
        return redis;
    }

    static void closeAll() {
        for (GuardedRedis redis = open.poll(); redis != null; redis = open.poll()) {
            redis.destroy();
        }
    }
}
