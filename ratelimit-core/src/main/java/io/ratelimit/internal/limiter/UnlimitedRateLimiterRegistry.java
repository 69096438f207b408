package io.ratelimit.internal.limiter;

import io.ratelimit.AllCallers;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Allows all calls of every name, for {@code ratelimit.enabled=false}. */
public final class UnlimitedRateLimiterRegistry implements RateLimiterRegistry {

    private static final RateLimitDecision ALLOWED = RateLimitDecision.unlimited(Long.MAX_VALUE);

    private static final JointDecision ALL_ALLOWED = new JointDecision(ALLOWED, List.of());

    private static final RateLimiter UNLIMITED = new UnlimitedRateLimiter();

    private static final RateLimiter.Entry ENTRY = () -> {};

    @Override
    public RateLimiter get(String name) {
        return UNLIMITED;
    }

    @Override
    public Optional<RateLimiter> find(String name) {
        return Optional.of(UNLIMITED);
    }

    /** Returns no name, because no declaration was read. */
    @Override
    public Set<String> names() {
        return Set.of();
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

    @Override
    public CompletionStage<Void> acquireAllAsync(List<PermitRequest> requests) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public RateLimiter.Entry enterAll(List<PermitRequest> requests) {
        return ENTRY;
    }

    @Override
    public CompletionStage<RateLimiter.Entry> enterAllAsync(List<PermitRequest> requests) {
        return CompletableFuture.completedFuture(ENTRY);
    }

    private static final class UnlimitedRateLimiter implements RateLimiter {

        @Override
        public RateLimiter withPlan(@Nullable String plan) {
            return this;
        }

        @Override
        public AllCallers allCallers() {
            return new AllCallers(this);
        }

        @Override
        public RateLimitDecision tryAcquire(String key, long permits) {
            return ALLOWED;
        }

        @Override
        public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
            return CompletableFuture.completedFuture(ALLOWED);
        }

        @Override
        public void acquire(String key, long permits) {}

        @Override
        public CompletionStage<Void> acquireAsync(String key, long permits) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void charge(String key, long permits) {}

        @Override
        public CompletionStage<Void> chargeAsync(String key, long permits) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public Entry enter(String key, long permits) {
            return ENTRY;
        }

        @Override
        public CompletionStage<Entry> enterAsync(String key, long permits) {
            return CompletableFuture.completedFuture(ENTRY);
        }

        @Override
        public RateLimitDecision peek(String key) {
            return ALLOWED;
        }

        @Override
        public CompletionStage<RateLimitDecision> peekAsync(String key) {
            return CompletableFuture.completedFuture(ALLOWED);
        }

        @Override
        public void reset(String key) {}

        @Override
        public CompletionStage<Void> resetAsync(String key) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
