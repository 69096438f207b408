package io.ratelimit.internal.limit;

import java.time.Duration;

/** The state has the time of each call in the window. */
public final class SlidingWindowLogTraits extends WindowTraits {

    public SlidingWindowLogTraits() {
        super('L');
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST_LOG);
    }

    @Override
    public String capacityAdvice() {
        return "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit.";
    }

    @Override
    public boolean hasEntries() {
        return true;
    }

    @Override
    public boolean knowsWaitForMore() {
        return false;
    }

    @Override
    public String obstacleToLeases(long permits, long capacity) {
        return "an entry of SLIDING_WINDOW_LOG has the time of its call";
    }
}
