package io.ratelimit.spi;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.DurationText;
import java.time.Duration;

/**
 * What an operator does to one bucket.
 *
 * @param kind what is done
 * @param amount the permits of a {@link Kind#GRANT}, the microseconds of a {@link Kind#BLOCK}, otherwise 0
 */
public record BucketChange(Kind kind, long amount) {

    /** Changes nothing: the bucket is only looked at. */
    public static final BucketChange NONE = new BucketChange(Kind.NONE, 0);

    /** Ends the block of a key, and forgets its violations: the next one blocks it for the first duration. */
    public static final BucketChange UNBLOCK = new BucketChange(Kind.UNBLOCK, 0);

    /**
     * Forgets the bucket, which is full again. Permits that calls hold are theirs no more: the calls run on, and release nothing
     * when they end.
     */
    public static final BucketChange RESET = new BucketChange(Kind.RESET, 0);

    private static final Duration LONGEST_BLOCK = Duration.ofDays(365);

    /** Kinds of changes. */
    public enum Kind {
        NONE,
        GRANT,
        BLOCK,
        UNBLOCK,
        RESET
    }

    /**
     * Returns permits to the bucket, those that were taken last, until it is full.
     *
     * @throws IllegalArgumentException unless there are 1 to {@value RateLimit#MAX_CAPACITY} permits
     */
    public static BucketChange grant(long permits) {
        if (permits < 1 || permits > RateLimit.MAX_CAPACITY) {
            throw new IllegalArgumentException(
                    "grant must be from 1 to " + RateLimit.MAX_CAPACITY + " (was " + permits + ")");
        }
        return new BucketChange(Kind.GRANT, permits);
    }

    /**
     * Blocks the key from now on for this time, instead of any other block. This is no violation: after it, the next one blocks
     * the key for the first duration of {@link RateLimit#blockFor}.
     *
     * @throws IllegalArgumentException unless the time is positive and at most 365 days
     */
    public static BucketChange block(Duration time) {
        if (time.isNegative() || time.isZero() || time.compareTo(LONGEST_BLOCK) > 0) {
            throw new IllegalArgumentException(
                    "blockFor must be positive and at most 365d (was " + DurationText.of(time) + ")");
        }
        return new BucketChange(Kind.BLOCK, (time.toNanos() + 999) / 1_000);
    }
}
