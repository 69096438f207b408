package io.ratelimit.redis;

import java.time.Duration;

/** Stores in a Redis that is well. However busy the machine is, its answers are in time. */
final class TestStores {

    private static final Duration LONG = Duration.ofSeconds(20);

    private TestStores() {}

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, String prefix) {
        return over(executor, LONG, prefix);
    }

    /** Of which each call has a script of its own. */
    static RedisRateLimitStore oneByOne(RateLimitScriptExecutor executor, String prefix) {
        return new RedisRateLimitStore(new GuardedRedis(executor, LONG, prefix), prefix, DirectDispatcher::new);
    }

    static RedisRateLimitStore over(RateLimitScriptExecutor executor, Duration timeout, String prefix) {
        return new RedisRateLimitStore(new GuardedRedis(executor, timeout, prefix), prefix);
    }
}
