package com.acme;

import io.ratelimit.RateLimitAlgorithm;
import org.springframework.stereotype.Component;

/** An algorithm of the application's own, with a Lua part in a file beside it: all permits come back at once, after a period. */
@Component
public class Batches implements RateLimitAlgorithm {

    @Override
    public String name() {
        return "batches";
    }

    private static long period(Rule rule) {
        return (rule.capacity() * rule.periodMicros() + rule.permits() - 1) / rule.permits();
    }

    @Override
    public State recover(Rule rule, State state, long now) {
        long periods = (now - state.since()) / period(rule);
        long left = periods >= state.used() ? 0 : Math.max(0, state.used() - periods * rule.capacity());
        return left == 0 ? new State(0, now, 0) : new State(left, state.since() + periods * period(rule), 0);
    }

    @Override
    public long timeUntil(Rule rule, State state, long now, long most) {
        long periods = (state.used() - most - 1) / rule.capacity() + 1;
        return state.since() + periods * period(rule) - now;
    }
}
