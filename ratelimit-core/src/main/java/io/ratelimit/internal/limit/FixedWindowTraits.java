package io.ratelimit.internal.limit;

import java.time.Duration;

/** A window starts with the first call that takes permits after the one before it. */
public final class FixedWindowTraits extends WindowTraits {

    private static final AlgorithmTraits IN_CALENDAR_UNITS = new CalendarWindowTraits();

    public FixedWindowTraits() {
        super('F', null, Trait.STARTS_PERIODS);
    }

    @Override
    public AlgorithmTraits inCalendarUnits() {
        return IN_CALENDAR_UNITS;
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST);
    }
}
