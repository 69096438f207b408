package io.ratelimit.memory;

import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a bucket, the same in the JVM and in Redis. Says how many permits are missing, not how many are
 * left, so that it stays true when a limit's numbers change.
 *
 * @param used permits that have been taken and are not back
 * @param since when the next of them began to come back (token bucket), or when the window opened; in microseconds
 * @param fraction of the microsecond after {@code since}, in parts of the pace's permits
 * @param offset added to the clock: more than 0 while the clock is behind what it once showed
 */
record BucketState(long used, long since, long fraction, long offset) {

    /**
     * Brings a state to the time at which it is looked at. A bucket's own time never goes back: while the clock shows
     * less than the bucket has seen, the bucket goes on from there, at the clock's speed, until the clock has caught up.
     * So what was given back is not given back again, and nobody waits for the clock.
     */
    static BucketState at(@Nullable BucketState last, long clock) {
        if (last == null) {
            return new BucketState(0, clock, 0, 0);
        }
        if (clock >= last.since) {
            return last.offset == 0 ? last : last.withOffset(0);
        }
        long offset = Math.max(last.offset, last.since - clock);
        return offset == last.offset ? last : last.withOffset(offset);
    }

    BucketState withUsed(long permits) {
        return new BucketState(permits, since, fraction, offset);
    }

    private BucketState withOffset(long micros) {
        return new BucketState(used, since, fraction, micros);
    }
}
