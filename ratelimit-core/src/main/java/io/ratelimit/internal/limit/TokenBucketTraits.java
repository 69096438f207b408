package io.ratelimit.internal.limit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Permits come back at the rate, as few at once as its numbers allow. */
public class TokenBucketTraits extends AlgorithmTraits {

    private static final AlgorithmTraits IN_INTERVALS = new IntervalBucketTraits();

    public TokenBucketTraits() {
        this(null, Trait.REFILLS_EVENLY);
    }

    TokenBucketTraits(@Nullable String obstacleToLeases, Trait... traits) {
        super('T', obstacleToLeases, traits);
    }

    @Override
    public @Nullable AlgorithmTraits inIntervals() {
        return IN_INTERVALS;
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofEvenRefill(reduced, maxWait);
    }
}
