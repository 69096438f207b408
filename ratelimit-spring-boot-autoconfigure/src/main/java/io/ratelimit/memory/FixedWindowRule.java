package io.ratelimit.memory;

/** Fixed window counter: all permits come back when the window ends that the first call started, at {@code since}. */
record FixedWindowRule(long capacity, long windowMicros) implements CounterRule {

    @Override
    public CounterState recover(CounterState usage, long now) {
        return usage.used() == 0 || now - usage.since() >= windowMicros ? unused(now) : usage;
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + windowMicros - now;
    }

    /** A window that started later is the same one if the call that started it was refunded. */
    @Override
    public CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        long later = usage.since() - receipt.since();
        if (later < 0 || later >= windowMicros) {
            return usage;
        }
        // The refunded call started the window, later ones did not.
        boolean started = later == 0 && receipt.used() == permits;
        return new CounterState(Math.max(0, usage.used() - permits), started ? now : usage.since(), 0);
    }

    /** An open window stays open, unless the new one is shorter: permits taken late would come back too soon. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        boolean open = other.rule() instanceof FixedWindowRule window && window.windowMicros <= windowMicros;
        return new CounterState(other.used(now, capacity), open ? other.since() : now, 0);
    }
}
