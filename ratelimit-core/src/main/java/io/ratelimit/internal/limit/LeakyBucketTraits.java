package io.ratelimit.internal.limit;

import org.jspecify.annotations.Nullable;

/** Counts as a token bucket does, so that a limit can change between the two; admitted calls wait for their turn. */
public final class LeakyBucketTraits extends TokenBucketTraits {

    public LeakyBucketTraits() {
        super("the slots of LEAKY_BUCKET are in the order of the calls", Trait.REFILLS_EVENLY, Trait.SPACES_CALLS);
    }

    @Override
    public @Nullable AlgorithmTraits inIntervals() {
        return null;
    }
}
