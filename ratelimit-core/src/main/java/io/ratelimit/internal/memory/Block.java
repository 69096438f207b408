package io.ratelimit.internal.memory;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The block of a key, and its memory: after a block that a violation has caused, the next violation is a further one for as
 * long again as the block was.
 *
 * @param since when it began, by the bucket's time: the clock is never behind it, so that it lasts no longer than it should
 * @param until when it ends
 * @param violations how many there were in a row; 0: it was caused by an operator
 */
record Block(long since, long until, long violations) {

    /**
     * Returns the block after a violation.
     *
     * @param last what {@link #at} returned for this time
     * @param durations of the limit: the n-th violation in a row has the n-th of them, or else the last
     */
    static Block after(@Nullable Block last, List<Duration> durations, long now) {
        long before = last == null ? 0 : last.violations;
        int index = (int) Math.min(before, durations.size() - 1);
        return new Block(now, now + durations.get(index).toNanos() / 1_000, before + 1);
    }

    /** Returns the block of an operator. */
    static Block of(long micros, long now) {
        return new Block(now, now + micros, 0);
    }

    /** Returns what is known of a block at a time. */
    static @Nullable Block at(@Nullable Block last, long now) {
        return last == null || now >= last.forgotten() ? null : last;
    }

    private long forgotten() {
        return violations == 0 ? until : until + (until - since);
    }

    /** Returns the time until it ends. */
    long left(long now) {
        return Math.max(0, until - now);
    }

    /** Returns the time until it is forgotten. */
    long memory(long now) {
        return forgotten() - now;
    }
}
