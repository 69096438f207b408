package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/** Sliding log: each permit comes back one window after it was taken. */
record SlidingWindowLogRule(long capacity, long windowMicros) implements Rule<PermitLog> {

    /** More permits than any log may hold count as so many: an entry in Redis has no room for more, and both stores agree. */
    private static final long ENTRY_PERMITS_AT_MOST = 10_000;

    @Override
    public PermitLog unused(long now) {
        return PermitLog.empty(now);
    }

    @Override
    public PermitLog recover(PermitLog usage, long now) {
        long horizon = now - windowMicros;
        PermitLog recovered = usage.since() <= horizon ? unused(now) : usage.after(horizon);
        return recovered.size() == 0 ? unused(now) : recovered;
    }

    @Override
    public long used(PermitLog usage, long now) {
        return usage.used();
    }

    @Override
    public long timeUntil(long most, PermitLog usage, long now) {
        long time = most == 0 ? usage.since() : usage.timeOf(usage.used() - most);
        return time + windowMicros - now;
    }

    /** Removes the oldest entries of a log that has more than the capacity: they leave before it has room again. */
    @Override
    public PermitLog take(PermitLog usage, long now, long permits) {
        return usage.with(now, Math.min(permits, ENTRY_PERMITS_AT_MOST)).newest(capacity);
    }

    /** Removes the oldest entries of a log with a debt as large as the capacity: what is refunded after that is no larger. */
    @Override
    public PermitLog force(PermitLog usage, long now, long permits, @Nullable RuleState<?> first) {
        return usage.with(now, Math.min(permits, ENTRY_PERMITS_AT_MOST)).newest(2 * capacity);
    }

    /** An entry that stays does so in place of as many older permits: they come back later, never earlier. */
    @Override
    public PermitLog refund(
            PermitLog usage, long now, long permits, long charged, CounterState receipt, boolean entryStays) {
        return entryStays
                ? usage.withoutOldest(receipt.since(), charged, permits)
                : usage.without(receipt.since(), charged, permits);
    }

    @Override
    public PermitLog refund(PermitLog usage, long now, long permits, CounterState receipt) {
        return refund(usage, now, permits, permits, receipt, false);
    }

    @Override
    public PermitLog grant(PermitLog usage, long now, long permits) {
        return permits >= usage.used() ? unused(now) : usage.oldest(usage.used() - permits);
    }

    @Override
    public boolean sharesEntriesWith(Rule<?> other) {
        return other instanceof SlidingWindowLogRule;
    }

    @Override
    public PermitLog adopt(RuleState<?> other, long now) {
        if (other.usage() instanceof PermitLog log) {
            return log.newest(capacity);
        }
        long used = other.used(now, capacity);
        return used == 0 ? unused(now) : unused(now).with(now, used);
    }
}
