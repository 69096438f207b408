package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/**
 * How much is lost if a bucket is forgotten. The least comes first.
 *
 * @param share of the capacity that is in use: 0 full, 1 exhausted
 * @param leftMicros until the bucket is full again
 */
record EvictionPriority(double share, long leftMicros) implements Comparable<EvictionPriority> {

    static final EvictionPriority NOTHING_LOST = new EvictionPriority(0, 0);

    /** Whether nothing is lost. */
    boolean isNone() {
        return share == 0 && leftMicros == 0;
    }

    @Override
    public int compareTo(EvictionPriority other) {
        int byShare = Double.compare(share, other.share);
        return byShare != 0 ? byShare : Long.compare(leftMicros, other.leftMicros);
    }

    /** Tells a bucket's use from its state; a pure function. */
    @FunctionalInterface
    interface Measure {

        EvictionPriority of(CompiledLimit limit, @Nullable BucketState state, long clock);
    }
}
