package io.ratelimit.internal.limit;

import java.time.Duration;

/** The state has the time of each call in the window. */
public final class SlidingWindowLogTraits extends WindowTraits {

    public SlidingWindowLogTraits() {
        super('L', "an entry of SLIDING_WINDOW_LOG has the time of its call", Trait.HAS_ENTRIES);
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST_LOG);
    }

    @Override
    public String capacityAdvice() {
        return "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit.";
    }
}
