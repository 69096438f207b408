package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/** A rule whose permits come back after some time each, in the order in which they were taken. */
interface OrderedRule extends CounterRule {

    /** Returns how many permits of a state belong to a receipt, or were taken before it and come back later. */
    long outBefore(CounterState receipt, CounterState usage);

    /**
     * Leaves a debt as it is. With a call for more than is left, all of the capacity is in use from now on. If the time that has
     * passed towards the next permit counted, too, each rule would go on admitting at its own rate, and together they would exceed
     * the highest.
     */
    @Override
    default CounterState observe(CounterState usage, long now, long permits, RuleState<?> admitting) {
        if (usage.used() > capacity()) {
            return usage;
        }
        return permits <= capacity() - usage.used()
                ? usage.plus(permits, capacity())
                : new CounterState(capacity(), now, 0, usage.gaps());
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

    /** Refunds those of the permits that have not come back. */
    @Override
    default CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        return refund(usage, now, permits, usage.used() - later(usage, receipt));
    }

    @Override
    default long later(CounterState usage, CounterState receipt) {
        RefundGaps gaps = RefundGaps.of(usage);
        long number = receipt.gaps() == null
                ? outBefore(receipt, gaps.origin())
                // Others are from before the bucket was full.
                : receipt.since() == gaps.origin().since() ? receipt.used() : 0;
        return usage.used() - Math.min(gaps.usedUpTo(number), usage.used());
    }

    @Override
    default CounterState refundObserved(CounterState usage, long now, long permits, long time, long later) {
        return refund(usage, now, permits, usage.used() - later);
    }

    /** @param out how many of the permits in use belong to the charge, or were taken before it */
    private CounterState refund(CounterState usage, long now, long permits, long out) {
        RefundGaps gaps = RefundGaps.of(usage);
        long refunded = Math.max(0, Math.min(permits, out));
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
