package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import org.jspecify.annotations.Nullable;

/** Permits come back when calls end. */
public final class ConcurrencyTraits extends WindowTraits {

    public ConcurrencyTraits() {
        super('H');
    }

    /** Permits that are neither released nor renewed come back together. */
    @Override
    public Batch batch(LimitNumbers limit) {
        return new Batch(limit.permits(), limit.periodMicros());
    }

    @Override
    public boolean holdsPermits() {
        return true;
    }

    @Override
    public boolean knowsWaitForMore() {
        return false;
    }

    @Override
    public String obstacleToLeases(long permits, long capacity) {
        return "a call of CONCURRENCY releases its permits when it ends";
    }

    /** Its capacity is divided, and there is nothing else. */
    @Override
    public @Nullable String dividedRate(LimitNumbers limit, int instances) {
        return null;
    }
}
