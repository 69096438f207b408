package io.ratelimit.internal.limit;

import java.util.Objects;

/** Fixed windows that are the units of a calendar. */
final class CalendarWindowTraits extends WindowTraits {

    CalendarWindowTraits() {
        super('C', null);
    }

    /** With less than one permit for each instance, a window in which one permit comes back. */
    @Override
    public String dividedRate(LimitNumbers limit, int instances) {
        return limit.capacity() < instances
                ? onePermit(limit, instances)
                : limit.capacity() / instances + "/"
                        + Objects.requireNonNull(limit.calendar()).unit();
    }
}
