package io.ratelimit;

import io.ratelimit.internal.limit.CalendarWindows;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Period;
import java.time.ZoneId;
import java.time.temporal.TemporalAdjuster;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;

/**
 * Names the calendar units that a {@link Rate} can have as its period: {@code "10000/month"}. The windows of a
 * {@link Algorithm#FIXED_WINDOW} then begin and end with the unit, in the time zone of the limit.
 */
public enum CalendarUnit {

    /** From midnight to midnight; 23 or 25 hours when clocks change. */
    DAY(1, Period.ofDays(1), day -> day),

    /** From Monday to Sunday, as in ISO 8601. */
    WEEK(7, Period.ofWeeks(1), TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY)),

    /** From the first day of a month to its last. */
    MONTH(31, Period.ofMonths(1), TemporalAdjusters.firstDayOfMonth()),

    /** From January 1 to December 31. */
    YEAR(366, Period.ofYears(1), TemporalAdjusters.firstDayOfYear());

    private final Duration longest;

    private final Period length;

    /** Returns the first day of the unit that contains a day. */
    @SuppressWarnings("ImmutableEnumChecker") // A function.
    private final TemporalAdjuster first;

    CalendarUnit(int days, Period length, TemporalAdjuster first) {
        this.longest = Duration.ofDays(days);
        this.length = length;
        this.first = first;
    }

    /** Returns the length of the longest such unit, if clocks do not change. */
    public Duration longest() {
        return longest;
    }

    CalendarWindows windows(ZoneId zone) {
        return new CalendarWindows(toString(), day -> day.with(first), day -> day.plus(length), zone);
    }

    /** Returns the unit as a rate has it: {@code month}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
