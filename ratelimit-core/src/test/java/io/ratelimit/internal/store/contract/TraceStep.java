package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import java.util.List;

/** A call at a time, and what has to become of it. */
public record TraceStep(long now, List<Charge> charges, List<RateLimitDecision> expected, Retry retry) {

    /** Whether the step repeats a rejected call, and when. */
    enum Retry {
        NONE,
        /** A microsecond before the time that the rejection has named. */
        TOO_EARLY,
        /** At that time. */
        IN_TIME
    }

    @Override
    public String toString() {
        return now + ": " + charges.stream().map(Charge::permits).toList();
    }
}
