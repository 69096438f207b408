package io.ratelimit;

import io.ratelimit.internal.limit.CalendarWindows;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;

/**
 * Names the calendar units that a {@link Rate} can have as its period: {@code "10000/month"}. The windows of a
 * {@link Algorithm#FIXED_WINDOW} then begin and end with the unit, in the time zone of the limit.
 */
public enum CalendarUnit {

    /** From midnight to midnight; 23 or 25 hours when clocks change. */
    DAY(1),

    /** From Monday to Sunday, as in ISO 8601. */
    WEEK(7),

    /** From the first day of a month to its last. */
    MONTH(31),

    /** From January 1 to December 31. */
    YEAR(366);

    private final Duration longest;

    CalendarUnit(int days) {
        this.longest = Duration.ofDays(days);
    }

    /** Returns the length of the longest such unit, if clocks do not change. */
    public Duration longest() {
        return longest;
    }

    CalendarWindows windows(ZoneId zone) {
        return new CalendarWindows(toString(), this::first, this::next, zone);
    }

    /** Returns the first day of the unit that contains a day. */
    private LocalDate first(LocalDate day) {
        return switch (this) {
            case DAY -> day;
            case WEEK -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
            case MONTH -> day.withDayOfMonth(1);
            case YEAR -> day.withDayOfYear(1);
        };
    }

    /** Returns the first day of the next unit. */
    private LocalDate next(LocalDate first) {
        return switch (this) {
            case DAY -> first.plusDays(1);
            case WEEK -> first.plusWeeks(1);
            case MONTH -> first.plusMonths(1);
            case YEAR -> first.plusYears(1);
        };
    }

    /** Returns the unit as a rate has it: {@code month}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
