package io.ratelimit.memory;

import io.ratelimit.RateLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How much is lost if a bucket is forgotten. The least comes first.
 *
 * @param share of the capacity that is in use: 0 as if never used, 1 exhausted
 * @param left until the bucket is as if never used
 */
record BucketUse(double share, Duration left) implements Comparable<BucketUse> {

    /** As if never used: nothing is lost. */
    boolean isNone() {
        return share == 0 && left.isZero();
    }

    @Override
    public int compareTo(BucketUse other) {
        int byShare = Double.compare(share, other.share);
        return byShare != 0 ? byShare : left.compareTo(other.left);
    }

    /** Tells a bucket's use from its state; a pure function. */
    @FunctionalInterface
    interface Measure {

        BucketUse of(RateLimit limit, @Nullable BucketState state, long clock);
    }
}
