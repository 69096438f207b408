package io.ratelimit.internal.limit;

import java.time.Duration;

/** Windows are aligned, and a share of the one before is still in view. */
public final class SlidingWindowTraits extends WindowTraits {

    public SlidingWindowTraits() {
        super('S', null);
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofAlignedWindows(reduced);
    }

    /** From the end of the window on, its permits are in view for as long as it lasted. */
    @Override
    public long leaseMicros(LimitNumbers limit, long resetMicros) {
        return resetMicros - limit.fullMicros();
    }
}
