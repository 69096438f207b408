package io.ratelimit.expression;

import io.ratelimit.LimitConfiguration;

/** Has the limit's own numbers apply to all calls, because only code names plans. */
enum NoPlan implements LimitPlan {
    NONE;

    @Override
    public String text() {
        return LimitConfiguration.NO_PLAN;
    }
}
