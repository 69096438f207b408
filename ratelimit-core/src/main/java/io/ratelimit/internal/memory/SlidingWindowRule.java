package io.ratelimit.internal.memory;

import java.math.BigInteger;

/**
 * Sliding window counter: two fixed windows aligned to the epoch, the previous count weighted by the share of that window
 * that is still in view (published by Cloudflare in 2017). {@code used} is the count of the current window, {@code since} its
 * start and {@code rest} the count of the previous window. What a window counts beyond the capacity counts in the next one.
 */
record SlidingWindowRule(long capacity, long windowMicros) implements CounterRule {

    @Override
    public CounterState unused(long now) {
        return new CounterState(0, start(now), 0);
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        long elapsed = now - usage.since();
        if (elapsed >= 0 && elapsed < windowMicros) {
            return usage;
        }
        long start = start(now);
        return usage.used() > capacity
                ? inLaterWindow(usage, start)
                : new CounterState(0, start, start - usage.since() == windowMicros ? usage.used() : 0);
    }

    private CounterState inLaterWindow(CounterState usage, long start) {
        long windows = Math.min((start - usage.since()) / windowMicros, usage.used() / capacity + 2);
        long before = usage.used() - (windows - 1) * capacity;
        return new CounterState(Math.max(0, before - capacity), start, Math.max(0, Math.min(before, capacity)));
    }

    @Override
    public long used(CounterState usage, long now) {
        return usage.used() + up(usage.rest(), usage.since() + windowMicros - now, windowMicros);
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        long left = usage.since() + windowMicros - now;
        long room = most - usage.used();
        if (room < 0) {
            // In a later window, the next one unless there is a debt, where the one before it is the previous.
            long windows = -room <= capacity ? 1 : (capacity - room - 1) / capacity;
            long before = usage.used() - (windows - 1) * capacity;
            long previous = Math.min(before, capacity);
            return left + windows * windowMicros - down(most - (before - previous), windowMicros, previous);
        }
        return usage.rest() <= room ? 0 : Math.max(0, left - down(room, windowMicros, usage.rest()));
    }

    /** As many as in consecutive windows. */
    @Override
    public long mostUsed() {
        return CounterRule.mostUsed(capacity, windowMicros);
    }

    @Override
    public CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        if (usage.since() == receipt.since()) {
            return new CounterState(Math.max(0, usage.used() - permits), usage.since(), usage.rest());
        }
        return usage.since() - receipt.since() == windowMicros
                ? new CounterState(usage.used(), usage.since(), Math.max(0, usage.rest() - permits))
                : usage;
    }

    /** Takes them from the current window's count, and then as much from the previous window's as is in view for the others. */
    @Override
    public CounterState grant(CounterState usage, long now, long permits) {
        long others = permits - usage.used();
        if (others <= 0) {
            return new CounterState(-others, usage.since(), usage.rest());
        }
        long left = usage.since() + windowMicros - now;
        long previous =
                others < up(usage.rest(), left, windowMicros) ? usage.rest() - up(others, windowMicros, left) : 0;
        return new CounterState(0, usage.since(), previous);
    }

    /** Windows that are the same keep their counts. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        if (other.rule() instanceof SlidingWindowRule sliding
                && sliding.windowMicros == windowMicros
                && other.usage() instanceof CounterState count) {
            return new CounterState(Math.min(count.used(), capacity), count.since(), Math.min(count.rest(), capacity));
        }
        return new CounterState(other.used(now, capacity), start(now), 0);
    }

    private long start(long now) {
        return now - Math.floorMod(now, windowMicros);
    }

    /** {@code a × b / c}, rounded up. */
    private static long up(long a, long b, long c) {
        long down = down(a, b, c);
        // Both products may overflow. Their difference is the remainder, which does not.
        return a * b - down * c == 0 ? down : down + 1;
    }

    /** {@code a × b / c}, rounded down. */
    private static long down(long a, long b, long c) {
        if (a == 0) {
            return 0;
        }
        return Math.multiplyHigh(a, b) == 0 && a * b >= 0
                ? a * b / c
                : BigInteger.valueOf(a)
                        .multiply(BigInteger.valueOf(b))
                        .divide(BigInteger.valueOf(c))
                        .longValueExact();
    }
}
