package io.ratelimit.internal.limit;

import org.jspecify.annotations.Nullable;

/** Counts as a token bucket does, so that a limit can change between the two; admitted calls wait for their turn. */
public final class LeakyBucketTraits extends TokenBucketTraits {

    @Override
    public @Nullable AlgorithmTraits inIntervals() {
        return null;
    }

    @Override
    public boolean spacesCalls() {
        return true;
    }

    @Override
    public String obstacleToLeases(long permits, long capacity) {
        return "the slots of LEAKY_BUCKET are in the order of the calls";
    }
}
