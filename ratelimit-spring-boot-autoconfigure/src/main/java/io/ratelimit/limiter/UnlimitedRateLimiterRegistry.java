package io.ratelimit.limiter;

import io.ratelimit.JointDecision;
import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What {@code ratelimit.enabled=false} leaves: every name has a limiter, and every call passes. */
public final class UnlimitedRateLimiterRegistry implements RateLimiterRegistry {

    private static final RateLimitDecision YES = RateLimitDecision.unlimited(Long.MAX_VALUE);

    private static final JointDecision YES_TO_ALL = new JointDecision(YES, List.of());

    private static final RateLimiter UNLIMITED = new Unlimited();

    @Override
    public RateLimiter get(String name) {
        return UNLIMITED;
    }

    @Override
    public JointDecision tryAcquireAll(List<PermitRequest> requests) {
        return YES_TO_ALL;
    }

    @Override
    public CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests) {
        return CompletableFuture.completedFuture(YES_TO_ALL);
    }

    @Override
    public void acquireAll(List<PermitRequest> requests) {}

    private static final class Unlimited implements RateLimiter {

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
