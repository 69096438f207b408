package io.ratelimit.internal.memory;

import io.ratelimit.internal.limit.ReducedRate;

/**
 * Token bucket and leaky bucket: permits come back one after the other, evenly. Counts what is used, as the generic cell rate
 * algorithm (GCRA, ITU-T I.371) does with times. {@code since} is when the next permit began to come back; {@code rest} is a
 * fraction of the microsecond after it, in parts of the reduced's permits.
 */
record TokenBucketRule(long capacity, ReducedRate reduced) implements OrderedRule {

    @Override
    public CounterState recover(CounterState usage, long now) {
        long back = reduced.permitsIn(now - usage.since(), usage.rest(), usage.used());
        boolean all = back == usage.used();
        CounterState left = new CounterState(
                usage.used() - back,
                all ? now : usage.since() + reduced.wholeTimeOf(back, usage.rest()),
                all ? 0 : reduced.fractionOf(back, usage.rest()));
        return usage.gaps() == null ? left : left.with(gapsAfter(usage, back, now));
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + reduced.timeOf(usage.used() - most, usage.rest()) - now;
    }

    /** Can exceed the capacity: permits can be reserved ahead. */
    @Override
    public CounterState take(CounterState usage, long now, long permits) {
        return usage.plus(permits, Long.MAX_VALUE);
    }

    /** Permits reserved ahead stay used. */
    @Override
    public long mostUsed() {
        return reduced.largestCapacity();
    }

    /** Those come back by the time at which the receipt's bucket was to be full again. */
    @Override
    public long outBefore(CounterState receipt, CounterState usage) {
        long last = receipt.since() + reduced.wholeTimeOf(receipt.used(), receipt.rest());
        long fraction = reduced.fractionOf(receipt.used(), receipt.rest());
        long out = reduced.permitsIn(Math.max(0, last - usage.since() + 1), usage.rest(), usage.used());
        while (out > 0 && isBackAfter(last, fraction, out, usage)) {
            out--;
        }
        return out;
    }

    private boolean isBackAfter(long time, long fraction, long permits, CounterState usage) {
        long back = usage.since() + reduced.wholeTimeOf(permits, usage.rest());
        return back > time || (back == time && reduced.fractionOf(permits, usage.rest()) > fraction);
    }

    /** Keeps the part of a permit that has come back: otherwise none would while rates change more often than that takes. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        if (other.rule() instanceof TokenBucketRule even
                && other.usage() instanceof CounterState count
                && count.used() > 0
                && count.used() <= capacity) {
            return even.reduced.equals(reduced)
                    ? new CounterState(count.used(), count.since(), count.rest())
                    : new CounterState(count.used(), now - reduced.samePart(now - count.since(), even.reduced), 0);
        }
        return new CounterState(other.used(now, capacity), now, 0);
    }
}
