package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A token bucket that is refilled in one batch per period. */
final class IntervalBucketTraits extends AlgorithmTraits {

    IntervalBucketTraits() {
        super('I', null, Trait.STARTS_PERIODS);
    }

    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return CapacityRange.ofIntervals(permits, periodMicros);
    }

    /** More than the capacity cannot come back at once. */
    @Override
    public Batch batch(LimitNumbers limit) {
        return new Batch(Math.min(limit.permits(), limit.capacity()), limit.periodMicros());
    }

    @Override
    public @Nullable String obstacleToLeases(long permits, long capacity) {
        return permits < capacity
                ? "batches of " + permits + " do not fill the bucket of " + capacity
                        + ", so what is not handed out would shift its periods"
                : null;
    }

    /** Batches that cannot be divided come one permit after the other: whole ones would be too much at once. */
    @Override
    public String dividedRate(LimitNumbers limit, int instances) {
        Batch batch = batch(limit);
        return dividesBatches(limit, instances)
                ? new Batch(batch.permits() / instances, batch.micros()).toString()
                : slower(batch, instances);
    }

    @Override
    public boolean dividesBatches(LimitNumbers limit, int instances) {
        return batch(limit).permits() % instances == 0;
    }
}
