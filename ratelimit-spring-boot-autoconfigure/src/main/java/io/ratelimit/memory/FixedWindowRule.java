package io.ratelimit.memory;

/** All permits at once, when the window ends that opened with the first of them, at {@code since}. */
record FixedWindowRule(long capacity, long windowMicros) implements CounterRule {

    @Override
    public CounterState unused(long now) {
        return CounterState.none(now);
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        return usage.used() == 0 || now - usage.since() >= windowMicros ? CounterState.none(now) : usage;
    }

    @Override
    public long used(CounterState usage, long now) {
        return usage.used();
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + windowMicros - now;
    }

    @Override
    public CounterState take(CounterState usage, long now, long permits) {
        return usage.plus(permits, capacity);
    }

    /** A window that began later is the same one if it has begun anew, because the call that opened it was undone. */
    @Override
    public CounterState giveBack(CounterState usage, long now, long permits, CounterState receipt) {
        long later = usage.since() - receipt.since();
        if (later < 0 || later >= windowMicros) {
            return usage;
        }
        // The window that they have opened is not that of those who came later.
        boolean opened = later == 0 && receipt.used() == permits;
        return new CounterState(Math.max(0, usage.used() - permits), opened ? now : usage.since(), 0);
    }

    /** A window that is open stays open; but in a shorter one what was taken late would be back too soon. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        boolean open = other.rule() instanceof FixedWindowRule window && window.windowMicros <= windowMicros;
        return new CounterState(other.used(now, capacity), open ? other.since() : now, 0);
    }
}
