package io.ratelimit.test.contract;

import io.ratelimit.RateLimitAlgorithm;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Records what the functions in Java are called with, and what they return. */
final class RecordingAlgorithm implements RateLimitAlgorithm {

    private final RateLimitAlgorithm algorithm;

    private final Map<Call, List<Long>> results = new LinkedHashMap<>();

    RecordingAlgorithm(RateLimitAlgorithm algorithm) {
        this.algorithm = algorithm;
    }

    /**
     * @param function its name in Lua
     * @param last the permits, or the most permits, if the function takes them; otherwise 0
     */
    record Call(String function, Rule rule, State state, long now, long last) {

        long[] arguments() {
            return new long[] {
                rule.capacity(),
                rule.permits(),
                rule.periodMicros(),
                state.used(),
                state.since(),
                state.rest(),
                now,
                last
            };
        }

        @Override
        public String toString() {
            return function + " of " + rule + ", " + state + " at " + now
                    + (function.equals("time_until") ? " until " + last : last == 0 ? "" : " for " + last);
        }
    }

    /** Returns the results by call: three numbers of a state, or one. */
    Map<Call, List<Long>> results() {
        return results;
    }

    @Override
    public String name() {
        return algorithm.name();
    }

    @Override
    public String luaPart() {
        return algorithm.luaPart();
    }

    @Override
    public State recover(Rule rule, State state, long now) {
        return recorded("recover", rule, state, now, 0, algorithm.recover(rule, state, now));
    }

    @Override
    public State take(Rule rule, State state, long now, long permits) {
        return recorded("take", rule, state, now, permits, algorithm.take(rule, state, now, permits));
    }

    @Override
    public State refund(Rule rule, State state, long now, long permits) {
        return recorded("refund", rule, state, now, permits, algorithm.refund(rule, state, now, permits));
    }

    @Override
    public long used(Rule rule, State state, long now) {
        return recorded("used", rule, state, now, 0, algorithm.used(rule, state, now));
    }

    @Override
    public long timeUntil(Rule rule, State state, long now, long most) {
        return recorded("time_until", rule, state, now, most, algorithm.timeUntil(rule, state, now, most));
    }

    @Override
    public long resetAfter(Rule rule, State state, long now) {
        return recorded("reset_after", rule, state, now, 0, algorithm.resetAfter(rule, state, now));
    }

    private State recorded(String function, Rule rule, State state, long now, long last, State result) {
        results.put(new Call(function, rule, state, now, last), List.of(result.used(), result.since(), result.rest()));
        return result;
    }

    private long recorded(String function, Rule rule, State state, long now, long last, long result) {
        results.put(new Call(function, rule, state, now, last), List.of(result));
        return result;
    }
}
