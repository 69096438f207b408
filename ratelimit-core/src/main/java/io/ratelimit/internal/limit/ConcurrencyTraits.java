package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import org.jspecify.annotations.Nullable;

/** Permits come back when calls end. */
public final class ConcurrencyTraits extends WindowTraits {

    public ConcurrencyTraits() {
        super('H', "a call of CONCURRENCY releases its permits when it ends", Trait.HOLDS_PERMITS);
    }

    /** Permits that are neither released nor renewed come back together. */
    @Override
    public Batch batch(LimitNumbers limit) {
        return new Batch(limit.permits(), limit.periodMicros());
    }

    /** Its capacity is divided, and there is nothing else. */
    @Override
    public @Nullable String dividedRate(LimitNumbers limit, int instances) {
        return null;
    }
}
