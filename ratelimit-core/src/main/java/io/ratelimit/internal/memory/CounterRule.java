package io.ratelimit.internal.memory;

import io.ratelimit.internal.limit.ReducedRate;
import org.jspecify.annotations.Nullable;

/** A rule with a state of fixed size, however many calls there were. */
interface CounterRule extends Rule<CounterState> {

    @Override
    default CounterState unused(long now) {
        return new CounterState(0, now, 0);
    }

    @Override
    default long used(CounterState usage, long now) {
        return usage.used();
    }

    @Override
    default CounterState take(CounterState usage, long now, long permits) {
        return usage.plus(permits, capacity());
    }

    /** Leaves a debt as it is. */
    @Override
    default CounterState observe(CounterState usage, long now, long permits, RuleState<?> admitting) {
        return usage.plus(permits, Math.max(capacity(), usage.used()));
    }

    @Override
    default CounterState force(CounterState usage, long now, long permits, @Nullable RuleState<?> first) {
        return usage.plus(permits, Math.max(mostUsed(), usage.used()));
    }

    /** The most permits in use, debt included, with which the arithmetic is exact. */
    long mostUsed();

    /** Returns how many permits come back, so many in each period, in the longest time. */
    static long mostUsed(long permits, long periodMicros) {
        long periods = ReducedRate.LONGEST / periodMicros;
        return periods > ReducedRate.LONGEST / permits ? ReducedRate.LONGEST : periods * permits;
    }

    /** In a window that has begun since, the charge does not count. */
    @Override
    default CounterState refundObserved(CounterState usage, long now, long permits, long time, long later) {
        return time < usage.since()
                ? usage
                : refund(usage, now, permits, new CounterState(-1, usage.since(), usage.rest()));
    }

    /** Forgets what refunds have left: they may return permits of later calls then, never more than they took. */
    @Override
    default CounterState grant(CounterState usage, long now, long permits) {
        return permits >= usage.used()
                ? unused(now)
                : new CounterState(usage.used() - permits, usage.since(), usage.rest());
    }
}
