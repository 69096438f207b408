package io.ratelimit.redis.store;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.batch.DirectDispatcher;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.permit.PermitRegistry;
import io.ratelimit.redis.script.BucketNaming;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Stores in a Redis that is well. However busy the machine is, its answers are in time. They are closed at the end of the test
 * class, by {@link RedisLeakDetector}.
 */
public final class TestStores {

    private static final Duration LONG = Duration.ofSeconds(20);

    private static final Queue<GuardedRedis> open = new ConcurrentLinkedQueue<>();

    private TestStores() {}

    public static RedisRateLimitStore over(RateLimitScriptExecutor executor, String prefix) {
        return over(executor, LONG, prefix);
    }

    /** Each of its calls has a script of its own. */
    public static RedisRateLimitStore oneByOne(RateLimitScriptExecutor executor, String prefix) {
        return new RedisRateLimitStore(
                guarded(executor, LONG, prefix), new BucketNaming(prefix), DirectDispatcher::new, PermitRegistry::new);
    }

    public static RedisRateLimitStore over(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return new RedisRateLimitStore(guarded(executor, timeout, prefix), prefix);
    }

    public static GuardedRedis guarded(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return closedLater(new GuardedRedis(executor, timeout, prefix));
    }

    public static GuardedRedis closedLater(GuardedRedis redis) {
        open.add(redis);
        return redis;
    }

    public static void closeAll() {
        for (GuardedRedis redis = open.poll(); redis != null; redis = open.poll()) {
            redis.destroy();
        }
    }
}
