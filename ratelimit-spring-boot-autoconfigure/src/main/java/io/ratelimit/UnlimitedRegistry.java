package io.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What {@code ratelimit.enabled=false} leaves: every name has a limiter, and every limiter lets every call pass. */
public final class UnlimitedRegistry implements RateLimiterRegistry {

    private static final RateLimiter UNLIMITED = new Unlimited();

    @Override
    public RateLimiter get(String name) {
        return UNLIMITED;
    }

    private static final class Unlimited implements RateLimiter {

        private static final RateLimitDecision YES = RateLimitDecision.unlimited(Long.MAX_VALUE);

        @Override
        public RateLimitDecision tryAcquire(String key, long permits) {
            return YES;
        }

        @Override
        public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
            return CompletableFuture.completedFuture(YES);
        }

        @Override
        public void acquire(String key) {}

        @Override
        public RateLimitDecision peek(String key) {
            return YES;
        }

        @Override
        public void reset(String key) {}
    }
}
