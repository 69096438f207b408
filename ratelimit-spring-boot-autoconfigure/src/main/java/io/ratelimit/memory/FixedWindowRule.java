package io.ratelimit.memory;

/** All permits at once, when the window ends that opened with the first of them, at {@code since}. */
record FixedWindowRule(long capacity, long windowMicros) implements CountRule {

    @Override
    public Count unused(long now) {
        return Count.none(now);
    }

    @Override
    public Count recover(Count usage, long now) {
        return usage.used() == 0 || now - usage.since() >= windowMicros ? Count.none(now) : usage;
    }

    @Override
    public long used(Count usage, long now) {
        return usage.used();
    }

    @Override
    public long timeUntil(long most, Count usage, long now) {
        return usage.since() + windowMicros - now;
    }

    @Override
    public Count take(Count usage, long now, long permits) {
        return usage.plus(permits, capacity);
    }

    /** A window that began later is the same one if it has begun anew, because the call that opened it was undone. */
    @Override
    public Count giveBack(Count usage, long now, long permits, Count receipt) {
        long later = usage.since() - receipt.since();
        if (later < 0 || later >= windowMicros) {
            return usage;
        }
        // The window that they have opened is not that of those who came later.
        boolean opened = later == 0 && receipt.used() == permits;
        return new Count(Math.max(0, usage.used() - permits), opened ? now : usage.since(), 0);
    }

    /** A window that is open stays open; but in a shorter one what was taken late would be back too soon. */
    @Override
    public Count adopt(Section<?> other, long now) {
        boolean open = other.rule() instanceof FixedWindowRule window && window.windowMicros <= windowMicros;
        return new Count(other.used(now, capacity), open ? other.since() : now, 0);
    }
}
