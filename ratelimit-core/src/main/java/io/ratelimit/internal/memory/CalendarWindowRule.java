package io.ratelimit.internal.memory;

import io.ratelimit.internal.limit.CalendarWindows;
import io.ratelimit.internal.limit.CalendarWindows.Window;
import io.ratelimit.internal.limit.ReducedRate;
import org.jspecify.annotations.Nullable;

/**
 * Fixed windows that are the units of a calendar. {@code since} is when the window started and {@code rest} when it ends. A
 * window that is open ends when it was to end when it was opened, also if another instance knows another time zone, so that zones
 * are no part of a rule's identity. If no permits are used, no window is open.
 */
record CalendarWindowRule(long capacity, CalendarWindows windows) implements CounterRule {

    private String unit() {
        return windows.unit();
    }

    @Override
    public CounterState recover(CounterState usage, long now) {
        return usage.used() == 0 || now >= usage.rest() ? unused(now) : usage;
    }

    @Override
    public long timeUntil(long most, CounterState usage, long now) {
        return usage.rest() - now;
    }

    @Override
    public CounterState take(CounterState usage, long now, long permits) {
        return usage.used() == 0 ? opened(now, permits) : usage.plus(permits, capacity);
    }

    private CounterState opened(long now, long permits) {
        Window window = windows.at(now);
        return new CounterState(permits, window.start(), window.end());
    }

    /** A call that another rule has admitted opens a window only if that rule is of the same unit: its window. */
    @Override
    public CounterState observe(CounterState usage, long now, long permits, RuleState<?> admitting) {
        return usage.used() == 0
                ? windowOf(admitting, Math.min(permits, capacity), usage)
                : CounterRule.super.observe(usage, now, permits, admitting);
    }

    /** A debt ends with its window, as all that is used. */
    @Override
    public CounterState force(CounterState usage, long now, long permits, @Nullable RuleState<?> first) {
        if (usage.used() > 0) {
            return CounterRule.super.force(usage, now, permits, first);
        }
        return first == null ? opened(now, permits) : windowOf(first, permits, usage);
    }

    @Override
    public long mostUsed() {
        return ReducedRate.LONGEST;
    }

    /** Permits of another rule count as taken in the present window. */
    @Override
    public CounterState adopt(RuleState<?> other, long now) {
        long used = other.used(now, capacity);
        return used == 0 ? unused(now) : windowOf(other, used, opened(now, used));
    }

    private CounterState windowOf(RuleState<?> other, long used, CounterState otherwise) {
        return other.rule() instanceof CalendarWindowRule rule
                        && rule.unit().equals(unit())
                        && other.usage() instanceof CounterState count
                ? new CounterState(used, count.since(), count.rest())
                : otherwise;
    }

    @Override
    public CounterState refund(CounterState usage, long now, long permits, CounterState receipt) {
        return usage.since() == receipt.since() && usage.rest() == receipt.rest()
                ? new CounterState(Math.max(0, usage.used() - permits), usage.since(), usage.rest())
                : usage;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CalendarWindowRule rule && capacity == rule.capacity && unit().equals(rule.unit());
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(capacity) + unit().hashCode();
    }
}
