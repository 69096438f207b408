package io.ratelimit.internal.memory;

/**
 * Fixed window counter: all permits come back when the window ends that the first call started, at {@code since}. What is used
 * beyond the capacity is used in the next window, which starts then.
 */
record FixedWindowRule(long capacity, long windowMicros) implements CounterRule {

    @Override
    public CounterState recover(CounterState usage, long now) {
        if (usage.used() > 0 && now - usage.since() < windowMicros) {
            return usage;
        }
        return usage.used() > capacity ? inLaterWindow(usage, now) : unused(now);
    }

    private CounterState inLaterWindow(CounterState usage, long now) {
        long windows = (now - usage.since()) / windowMicros;
        return windows >= windows(usage.used())
                ? unused(now)
                : new CounterState(usage.used() - windows * capacity, usage.since() + windows * windowMicros, 0);
    }

    /** Returns how many windows it takes until so many permits are back. */
    private long windows(long permits) {
        return permits <= capacity ? 1 : (permits - 1) / capacity + 1;
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.since() + windows(usage.used() - most) * windowMicros - now;
    }

    @Override
    public long mostUsed() {
        return CounterRule.mostUsed(capacity, windowMicros);
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
