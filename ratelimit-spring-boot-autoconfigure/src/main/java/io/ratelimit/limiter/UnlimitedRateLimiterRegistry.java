package io.ratelimit.limiter;

import io.ratelimit.JointDecision;
import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Allows all calls of every name, for {@code ratelimit.enabled=false}. */
public final class UnlimitedRateLimiterRegistry implements RateLimiterRegistry {

    private static final RateLimitDecision ALLOWED = RateLimitDecision.unlimited(Long.MAX_VALUE);

    private static final JointDecision ALL_ALLOWED = new JointDecision(ALLOWED, List.of());

    private static final RateLimiter UNLIMITED = new Unlimited();

    @Override
    public RateLimiter get(String name) {
        return UNLIMITED;
    }

    @Override
    public JointDecision tryAcquireAll(List<PermitRequest> requests) {
        return ALL_ALLOWED;
    }

    @Override
    public CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests) {
        return CompletableFuture.completedFuture(ALL_ALLOWED);
    }

    @Override
    public void acquireAll(List<PermitRequest> requests) {}

    private static final class Unlimited implements RateLimiter {

        @Override
        public RateLimitDecision tryAcquire(String key, long permits) {
            return ALLOWED;
        }

        @Override
        public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
            return CompletableFuture.completedFuture(ALLOWED);
        }

        @Override
        public void acquire(String key) {}

        @Override
        public RateLimitDecision peek(String key) {
            return ALLOWED;
        }

        @Override
        public void reset(String key) {}
    }
}
