package io.ratelimit.expression;

import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.limiter.EffectiveLimit;

/** Has the limit's own numbers apply to all calls, because only code names plans. */
enum NoPlan implements LimitPlan {
    NONE;

    @Override
    public String text() {
        return LimitOverrides.NO_PLAN;
    }

    @Override
    public boolean readsPrincipal() {
        return false;
    }

    @Override
    public RateLimit limit(EffectiveLimit limit, Evaluation evaluation) {
        return limit.get();
    }
}
