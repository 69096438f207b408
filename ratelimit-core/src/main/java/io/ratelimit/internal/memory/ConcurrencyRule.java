package io.ratelimit.internal.memory;

import io.ratelimit.internal.limit.AlgorithmTraits;
import org.jspecify.annotations.Nullable;

/**
 * Counts the permits that calls hold, which come back with a refund alone. Limits with different capacities count the same
 * permits. Its states have no time, so no clock matters.
 */
record ConcurrencyRule(long capacity) implements CounterRule {

    private static final CounterState UNUSED = new CounterState(0, 0, 0);

    @Override
    public CounterState unused(long now) {
        return UNUSED;
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        return usage;
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return AlgorithmTraits.UNKNOWN_MICROS;
    }

    @Override
    public long mostUsed() {
        return capacity;
    }

    @Override
    public CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        return usage.plus(-permits, Long.MAX_VALUE);
    }

    /** Adopts nothing: these buckets have no other rule. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        return UNUSED;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ConcurrencyRule;
    }

    @Override
    public int hashCode() {
        return ConcurrencyRule.class.hashCode();
    }
}
