package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.PlanCache;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Has a bean of the application find plans by their key. */
record ResolvedPlan(String bean, PlanCache plans) implements LimitPlan {

    @Override
    public String text() {
        return "resolver " + bean;
    }

    @Override
    public boolean isResolved() {
        return true;
    }

    @Override
    public RateLimit limit(EffectiveLimit limit, String key) {
        RateLimitPlan plan = plans.find(key);
        return plan == null ? limit.get() : limit.plan(plan);
    }

    @Override
    public @Nullable CompletableFuture<?> await(String key) {
        return plans.await(key);
    }
}
