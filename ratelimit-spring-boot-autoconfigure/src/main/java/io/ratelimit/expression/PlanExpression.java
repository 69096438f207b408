package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limiter.EffectiveLimit;

/** Determines plans by an expression, which returns a name or a {@link RateLimitPlan}. */
record PlanExpression(RateLimitExpression expression) implements LimitPlan {

    @Override
    public RateLimit limit(EffectiveLimit limit, Evaluation evaluation) {
        Object plan = expression.plan(evaluation, limit.get());
        if (plan == null) {
            return limit.get();
        }
        return plan instanceof RateLimitPlan numbers ? limit.plan(numbers) : limit.plan((String) plan);
    }

    @Override
    public String text() {
        return expression.text();
    }

    @Override
    public boolean namesPrincipal() {
        return expression.namesPrincipal();
    }
}
