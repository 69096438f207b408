package io.ratelimit.internal.change;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Stands for the admin while rate limits are off, so that beans which need one can be created: there is nothing to change. */
public final class DisabledLimitAdmin implements RateLimitAdmin {

    @Override
    public RateLimitAdmin as(String principal) {
        return this;
    }

    @Override
    public RateLimitAdmin forPlan(String plan) {
        return this;
    }

    @Override
    public RateLimitStatus status(String limit) {
        throw disabled();
    }

    @Override
    public RateLimitStatus override(String limit, RateLimitOverride override, long expectedVersion) {
        throw disabled();
    }

    @Override
    public CompletionStage<RateLimitStatus> overrideAsync(
            String limit, RateLimitOverride override, long expectedVersion) {
        return CompletableFuture.failedFuture(disabled());
    }

    @Override
    public RateLimitStatus removeOverride(String limit, long expectedVersion) {
        throw disabled();
    }

    @Override
    public CompletionStage<RateLimitStatus> removeOverrideAsync(String limit, long expectedVersion) {
        return CompletableFuture.failedFuture(disabled());
    }

    @Override
    public Bucket bucket(String limit, String key) {
        throw disabled();
    }

    @Override
    public Bucket bucket(String limit) {
        throw disabled();
    }

    private static IllegalStateException disabled() {
        return new IllegalStateException("Rate limits are off (ratelimit.enabled is false)");
    }
}
