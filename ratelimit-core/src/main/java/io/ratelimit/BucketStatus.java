package io.ratelimit;

import java.time.Duration;

/**
 * The state of one bucket of a limit. Times are exact to the microsecond, rounded up.
 *
 * @param capacity the maximum number of permits available at once
 * @param remaining the number of permits in the bucket, rounded down; while the key is blocked, no call can take them
 * @param resetAfter the time until the bucket is full again
 * @param blockedFor the time until the key is no longer blocked; zero: it is not blocked
 */
public record BucketStatus(long capacity, long remaining, Duration resetAfter, Duration blockedFor) {

    /** Returns whether every call with this key is rejected, however many permits there are. */
    public boolean isBlocked() {
        return !blockedFor.isZero();
    }
}
