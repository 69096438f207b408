package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** All permits of a window come back together. */
abstract class WindowTraits extends AlgorithmTraits {

    WindowTraits(char letter, @Nullable String obstacleToLeases, Trait... others) {
        super(letter, obstacleToLeases, others);
    }

    /** There is no arithmetic with the rate, unless the algorithm has some. */
    @Override
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return new CapacityRange(1, CapacityRange.LARGEST);
    }

    @Override
    public Batch batch(LimitNumbers limit) {
        return new Batch(limit.capacity(), limit.fullMicros());
    }

    /** As long as the limit's; with less than one permit for each instance, as long as one permit takes. */
    @Override
    public @Nullable String dividedRate(LimitNumbers limit, int instances) {
        return limit.capacity() < instances
                ? onePermit(limit, instances)
                : new Batch(limit.capacity() / instances, limit.fullMicros()).toString();
    }

    static String onePermit(LimitNumbers limit, int instances) {
        return new Batch(1, limit.reducedRate().fullMicros(instances)).toString();
    }
}
