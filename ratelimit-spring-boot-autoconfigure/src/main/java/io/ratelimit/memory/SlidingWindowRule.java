package io.ratelimit.memory;

import java.math.BigInteger;

/**
 * Counts in windows aligned to the epoch. Of the previous window's count that share is used that is still in view.
 * {@code used} is the present window's count, {@code since} its beginning and {@code rest} the previous window's count.
 */
record SlidingWindowRule(long capacity, long windowMicros) implements CountRule {

    @Override
    public Count unused(long now) {
        return Count.none(start(now));
    }

    @Override
    public Count recover(Count usage, long now) {
        long start = start(now);
        if (start == usage.since()) {
            return usage;
        }
        return new Count(0, start, start - usage.since() == windowMicros ? usage.used() : 0);
    }

    @Override
    public long used(Count usage, long now) {
        return usage.used() + up(usage.rest(), usage.since() + windowMicros - now, windowMicros);
    }

    @Override
    public long timeUntil(long most, Count usage, long now) {
        long left = usage.since() + windowMicros - now;
        long room = most - usage.used();
        if (room < 0) {
            // In the next window, where this one is the previous.
            return left + windowMicros - down(most, windowMicros, usage.used());
        }
        return usage.rest() <= room ? 0 : Math.max(0, left - down(room, windowMicros, usage.rest()));
    }

    @Override
    public Count take(Count usage, long now, long permits) {
        return usage.plus(permits, capacity);
    }

    @Override
    public Count giveBack(Count usage, long now, long permits, Count receipt) {
        if (usage.since() == receipt.since()) {
            return new Count(Math.max(0, usage.used() - permits), usage.since(), usage.rest());
        }
        return usage.since() - receipt.since() == windowMicros
                ? new Count(usage.used(), usage.since(), Math.max(0, usage.rest() - permits))
                : usage;
    }

    /** Windows that are the same keep their counts. */
    @Override
    public Count adopt(Section<?> other, long now) {
        if (other.rule() instanceof SlidingWindowRule sliding
                && sliding.windowMicros == windowMicros
                && other.usage() instanceof Count count) {
            return new Count(Math.min(count.used(), capacity), count.since(), Math.min(count.rest(), capacity));
        }
        return new Count(other.used(now, capacity), start(now), 0);
    }

    private long start(long now) {
        return now - Math.floorMod(now, windowMicros);
    }

    /** {@code a × b / c}, rounded down. */
    private static long down(long a, long b, long c) {
        long high = Math.multiplyHigh(a, b);
        return high == 0 && a * b >= 0
                ? a * b / c
                : product(a, b).divide(BigInteger.valueOf(c)).longValueExact();
    }

    private static long up(long a, long b, long c) {
        long high = Math.multiplyHigh(a, b);
        if (high == 0 && a * b >= 0) {
            return a * b / c + (a * b % c > 0 ? 1 : 0);
        }
        BigInteger[] result = product(a, b).divideAndRemainder(BigInteger.valueOf(c));
        return result[0].longValueExact() + result[1].signum();
    }

    private static BigInteger product(long a, long b) {
        return BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
    }
}
