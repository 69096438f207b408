package com.acme.limits;

import io.ratelimit.RateLimitAlgorithm;

/**
 * A token bucket that refills at its rate by day and {@code factor} times as fast by night, between two hours in UTC.
 *
 * <p>Time is stretched: a microsecond of the night counts as {@code factor} microseconds. {@code rest} is what has not come back, in
 * parts of a microsecond: a call adds {@code periodMicros} for each permit, and {@code permits} come back in a microsecond.
 */
public record FasterByNight(int from, int until, int factor) implements RateLimitAlgorithm {

    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;

    @Override
    public String name() {
        return "faster-by-night";
    }

    @Override
    public String luaPart() {
        return "local from, night, factor = %d, %d, %d\n".formatted(from * HOUR, night(), factor)
                + RateLimitAlgorithm.super.luaPart();
    }

    @Override
    public State recover(Rule rule, State state, long now) {
        long stretched = now - state.since() + (factor - 1) * (nightsBefore(now) - nightsBefore(state.since()));
        return stretched >= quotientUp(state.rest(), rule.permits())
                ? new State(0, now, 0)
                : state(rule, state.rest() - stretched * rule.permits(), now);
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
        long stretchedDay = DAY + (factor - 1) * night();
        long stretched = quotientUp(state.rest() - most * rule.periodMicros(), rule.permits());
        long time = stretched / stretchedDay * DAY;
        stretched %= stretchedDay;
        for (long at = Math.floorMod(now - from * HOUR, DAY); ; at = at < night() ? night() : 0) {
            long speed = at < night() ? factor : 1;
            long length = (at < night() ? night() : DAY) - at;
            if (stretched <= length * speed) {
                return time + quotientUp(stretched, speed);
            }
            stretched -= length * speed;
            time += length;
        }
    }

    private long night() {
        return Math.floorMod(until - from, 24) * HOUR;
    }

    /** Returns the microseconds of all nights before a time. */
    private long nightsBefore(long time) {
        long day = Math.floorDiv(time - from * HOUR, DAY);
        return day * night() + Math.min(time - from * HOUR - day * DAY, night());
    }

    private static State state(Rule rule, long missing, long now) {
        return new State(quotientUp(missing, rule.periodMicros()), now, missing);
    }

    private static long quotientUp(long a, long b) {
        return (a + b - 1) / b;
    }
}
