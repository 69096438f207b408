package io.ratelimit.memory;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Rate;
import io.ratelimit.RateLimit;

/**
 * Token bucket refilled in batches, one at the end of each period. The period starts with the call that takes permits from a
 * full bucket; {@code since} is when the current one started.
 */
record IntervalRule(long capacity, long batch, long periodMicros) implements CounterRule {

    static IntervalRule of(RateLimit limit) {
        Rate batch = AlgorithmTraits.of(limit).batch(limit);
        return new IntervalRule(limit.capacity(), batch.permits(), batch.periodMicros());
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        long periods = (now - usage.since()) / periodMicros;
        if (periods >= batches(usage.used())) {
            return unused(now);
        }
        return new CounterState(usage.used() - periods * batch, usage.since() + periods * periodMicros, 0);
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + batches(usage.used() - most) * periodMicros - now;
    }

    @Override
    public CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        if (now >= receipt.since() + batches(receipt.used()) * periodMicros) {
            return usage;
        }
        long periods = Math.floorDiv(usage.since() - receipt.since(), periodMicros);
        long out = Math.min(receipt.used() - periods * batch, usage.used());
        // If no earlier call has permits in use, the refunded call started the period, later ones did not.
        return new CounterState(usage.used() - Math.min(permits, out), out <= permits ? now : usage.since(), 0);
    }

    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        boolean samePeriods = other.rule() instanceof IntervalRule interval
                && interval.batch == batch
                && interval.periodMicros == periodMicros;
        return new CounterState(other.used(now, capacity), samePeriods ? other.since() : now, 0);
    }

    private long batches(long permits) {
        return (permits + batch - 1) / batch;
    }
}
