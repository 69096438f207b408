package io.ratelimit.redis;

import java.time.Duration;

/** Stores in a Redis that is well. However busy the machine is, its answers are in time. */
final class TestStores {

    private static final Duration LONG = Duration.ofSeconds(20);

    private TestStores() {}

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, String prefix) {
        return over(executor, LONG, prefix);
    }

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return new RedisRateLimitStore(new GuardedRedis(executor, timeout, prefix), prefix);
    }
}
