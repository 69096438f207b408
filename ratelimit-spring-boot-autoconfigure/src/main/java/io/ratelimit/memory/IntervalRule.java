package io.ratelimit.memory;

import io.ratelimit.RateLimit;

/**
 * In batches, one at the end of each period; the period starts with the call that takes from a full bucket. {@code since}
 * is when the present period began.
 */
record IntervalRule(long capacity, long batch, long periodMicros) implements CountRule {

    /** More than the capacity cannot come back at once. */
    static IntervalRule of(RateLimit limit) {
        return new IntervalRule(
                limit.capacity(),
                Math.min(limit.rate().permits(), limit.capacity()),
                limit.rate().period().toNanos() / 1_000);
    }

    @Override
    public Count unused(long now) {
        return Count.none(now);
    }

    @Override
    public Count recover(Count usage, long now) {
        long periods = (now - usage.since()) / periodMicros;
        if (periods >= batches(usage.used())) {
            return Count.none(now);
        }
        return new Count(usage.used() - periods * batch, usage.since() + periods * periodMicros, 0);
    }

    @Override
    public long used(Count usage, long now) {
        return usage.used();
    }

    @Override
    public long timeUntil(long most, Count usage, long now) {
        return usage.since() + batches(usage.used() - most) * periodMicros - now;
    }

    @Override
    public Count take(Count usage, long now, long permits) {
        return usage.plus(permits, capacity);
    }

    @Override
    public Count giveBack(Count usage, long now, long permits, Count receipt) {
        if (now >= receipt.since() + batches(receipt.used()) * periodMicros) {
            return usage;
        }
        long periods = Math.floorDiv(usage.since() - receipt.since(), periodMicros);
        long out = Math.min(receipt.used() - periods * batch, usage.used());
        // Where nobody's from before is out, the period is not that of those who came later.
        return new Count(usage.used() - Math.min(permits, out), out <= permits ? now : usage.since(), 0);
    }

    @Override
    public Count adopt(Section<?> other, long now) {
        boolean samePeriods = other.rule() instanceof IntervalRule interval
                && interval.batch == batch
                && interval.periodMicros == periodMicros;
        return new Count(other.used(now, capacity), samePeriods ? other.since() : now, 0);
    }

    private long batches(long permits) {
        return (permits + batch - 1) / batch;
    }
}
