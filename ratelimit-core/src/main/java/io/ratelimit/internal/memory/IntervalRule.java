package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.LimitNumbers.Batch;

/**
 * Token bucket refilled in batches, one at the end of each period. The period starts with the call that takes permits from a
 * full bucket; {@code since} is when the current one started.
 */
record IntervalRule(long capacity, long batch, long periodMicros) implements OrderedRule {

    static IntervalRule of(RateLimit limit) {
        Batch batch = limit.numbers().traits().batch(limit.numbers());
        return new IntervalRule(limit.capacity(), batch.permits(), batch.micros());
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        long periods = (now - usage.since()) / periodMicros;
        long back = periods >= batches(usage.used()) ? usage.used() : periods * batch;
        CounterState left = back == usage.used()
                ? unused(now)
                : new CounterState(usage.used() - back, usage.since() + periods * periodMicros, 0);
        return usage.gaps() == null ? left : left.with(gapsAfter(usage, back, now));
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + batches(usage.used() - most) * periodMicros - now;
    }

    @Override
    public long mostUsed() {
        return CounterRule.mostUsed(batch, periodMicros);
    }

    @Override
    public long outBefore(CounterState receipt, CounterState usage) {
        long periods = -Math.floorDiv(receipt.since() - usage.since(), periodMicros);
        return periods < batches(receipt.used()) ? Math.min(receipt.used() - periods * batch, usage.used()) : 0;
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
