package com.acme.limits;

import io.ratelimit.RateLimitAlgorithm;
import java.time.Duration;

/**
 * The generic cell rate algorithm, GCRA (ITU-T I.371, annex A), with a tolerance of its own: a call may come a little before its
 * permit is back. A client that keeps to the rate is not rejected because the network delays its calls unevenly.
 *
 * <p>In the words of I.371 this is GCRA(T, τ) with the increment T = 1 / rate and the limit τ = (capacity − 1) × T + tolerance, as
 * a leaky bucket. Its level is {@code rest}, in parts of a microsecond: a call adds {@code periodMicros} for each permit, and every
 * microsecond {@code permits} of them drain.
 */
public final class JitterTolerant implements RateLimitAlgorithm {

    private final long toleranceMicros;

    public JitterTolerant(Duration tolerance) {
        this.toleranceMicros = tolerance.toNanos() / 1_000;
    }

    @Override
    public String name() {
        return "jitter-tolerant";
    }

    /** The tolerance is a number of the Lua part, too. */
    @Override
    public String luaPart() {
        return "local tolerance_micros = " + toleranceMicros + "\n" + RateLimitAlgorithm.super.luaPart();
    }

    @Override
    public State recover(Rule rule, State state, long now) {
        long elapsed = now - state.since();
        return elapsed >= quotientUp(state.rest(), rule.permits())
                ? new State(0, now, 0)
                : state(rule, state.rest() - elapsed * rule.permits(), now);
    }

    @Override
    public long used(Rule rule, State state, long now) {
        return quotientUp(Math.max(0, state.rest() - tolerance(rule)), rule.periodMicros());
    }

    @Override
    public State take(Rule rule, State state, long now, long permits) {
        return state(rule, state.rest() + permits * rule.periodMicros(), now);
    }

    @Override
    public State refund(Rule rule, State state, long now, long permits) {
        return state(rule, Math.max(0, state.rest() - permits * rule.periodMicros()), now);
    }

    @Override
    public long timeUntil(Rule rule, State state, long now, long most) {
        return quotientUp(state.rest() - tolerance(rule) - most * rule.periodMicros(), rule.permits());
    }

    @Override
    public long resetAfter(Rule rule, State state, long now) {
        return quotientUp(state.rest(), rule.permits());
    }

    /** Less than one permit, so that no more than the capacity is taken at once. */
    private long tolerance(Rule rule) {
        return Math.min(toleranceMicros * rule.permits(), rule.periodMicros() - 1);
    }

    private static State state(Rule rule, long level, long now) {
        return new State(quotientUp(level, rule.periodMicros()), now, level);
    }

    private static long quotientUp(long a, long b) {
        return (a + b - 1) / b;
    }
}
