package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Permits come back at the rate, as few at once as its numbers allow. */
public class TokenBucketTraits extends AlgorithmTraits {

    private static final AlgorithmTraits IN_INTERVALS = new IntervalBucketTraits();

    public TokenBucketTraits() {
        super('T');
    }

    @Override
    public @Nullable AlgorithmTraits inIntervals() {
        return IN_INTERVALS;
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofEvenRefill(reduced, maxWait);
    }

    @Override
    public Batch batch(LimitNumbers limit) {
        return limit.reducedRate().batch();
    }

    @Override
    public boolean refillsEvenly() {
        return true;
    }

    @Override
    public long waitForMore(LimitNumbers limit, long missing, long more) {
        return limit.reducedRate().timeOf(more, 0);
    }

    @Override
    public String dividedRate(LimitNumbers limit, int instances) {
        return slower(batch(limit), instances);
    }
}
