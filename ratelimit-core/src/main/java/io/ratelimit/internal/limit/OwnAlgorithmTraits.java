package io.ratelimit.internal.limit;

import java.time.Duration;

/** An algorithm of the application. No more is known of it than its functions. */
public final class OwnAlgorithmTraits extends AlgorithmTraits {

    public OwnAlgorithmTraits() {
        super('X', "an algorithm of the application decides when permits come back");
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofProduct(reduced);
    }
}
