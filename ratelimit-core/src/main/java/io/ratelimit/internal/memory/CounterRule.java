package io.ratelimit.internal.memory;

import io.ratelimit.internal.limit.ReducedRate;
import java.util.function.ToLongFunction;
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

    /**
     * Returns the usage after a call that another rule has admitted, where permits come back after some time each. With a call
     * for more than is left, all of the capacity is in use from now on. If the time that has passed towards the next permit
     * counted, too, each rule would go on admitting at its own rate, and together they would exceed the highest.
     */
    default CounterState observed(CounterState usage, long now, long permits) {
        return permits <= capacity() - usage.used()
                ? usage.plus(permits, capacity())
                : new CounterState(capacity(), now, 0, usage.gaps());
    }

    /** Leaves a debt as it is. */
    @Override
    default CounterState observe(CounterState usage, long now, long permits) {
        return usage.plus(permits, Math.max(capacity(), usage.used()));
    }

    @Override
    default CounterState force(CounterState usage, long now, long permits) {
        return usage.plus(permits, Math.max(mostUsed(), usage.used()));
    }

    /** The most permits in use, debt included, with which the arithmetic is exact. */
    long mostUsed();

    /** Returns how many permits come back, so many in each period, in the longest time. */
    static long mostUsed(long permits, long periodMicros) {
        long periods = ReducedRate.LONGEST / periodMicros;
        return periods > ReducedRate.LONGEST / permits ? ReducedRate.LONGEST : periods * permits;
    }

    /** Forgets what refunds have left: they may return permits of later calls then, never more than they took. */
    @Override
    default CounterState grant(CounterState usage, long now, long permits) {
        return permits >= usage.used()
                ? unused(now)
                : new CounterState(usage.used() - permits, usage.since(), usage.rest());
    }

    /**
     * Returns the gaps after permits have come back; {@code null} if nothing that can still be refunded depends on them. Receipts
     * without numbers name times, at the latest the one at which the first state was to be unused.
     */
    default @Nullable RefundGaps gapsAfter(CounterState usage, long back, long now) {
        RefundGaps gaps = RefundGaps.of(usage);
        boolean over = back == usage.used() && now >= timeUntil(0, gaps.origin(), 0);
        return over ? null : gaps.recover(back);
    }

    /**
     * Refunds where permits come back in the order in which they were taken.
     *
     * @param position returns how many permits of a state belong to the receipt, or were taken before it and later
     */
    default CounterState refund(
            CounterState usage, long now, long permits, CounterState receipt, ToLongFunction<CounterState> position) {
        RefundGaps gaps = RefundGaps.of(usage);
        long number = receipt.gaps() == null
                ? position.applyAsLong(gaps.origin())
                // Others are from before the bucket was full.
                : receipt.since() == gaps.origin().since() ? receipt.used() : 0;
        long out = Math.min(gaps.usedUpTo(number), usage.used());
        long refunded = Math.min(permits, out);
        if (refunded == 0) {
            return usage;
        }
        long left = usage.used() - refunded;
        // Behind the last permit in use no gap is needed: the next charge takes the numbers.
        boolean ordered = usage.gaps() == null && out == usage.used();
        RefundGaps next = ordered ? null : gaps.refund(out - refunded, refunded);
        // If these permits were first in order, the next ones begin to come back now.
        return out == refunded
                ? new CounterState(left, now, 0, next)
                : new CounterState(left, usage.since(), usage.rest(), next);
    }
}
