package io.ratelimit;

import io.ratelimit.internal.limit.CalendarWindows;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.RateSuggestion;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Period;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.time.temporal.TemporalAdjuster;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The number of permits that become available per period.
 *
 * @param permits at least 1
 * @param period a whole number of microseconds, at least one; of a calendar unit its {@link CalendarUnit#longest}
 * @param calendarUnit {@code null}: the period is a duration
 */
public record Rate(long permits, Duration period, @Nullable CalendarUnit calendarUnit) {

    /** Examples of what {@link #parse} accepts, for error messages. */
    private static final String EXAMPLES =
            "\"10/s\", \"100/m\", \"1000/h\", \"5/10s\", \"3/500ms\", \"1/PT1M\" or \"10000/month\"";

    private static final Pattern SYNTAX = Pattern.compile("(\\d{1,18})(?:\\s*/\\s*(\\S+))?");

    private static final Pattern SIMPLE_PERIOD = Pattern.compile("(\\d{1,18})?(us|ms|s|m|h|d)");

    private static final Pattern ONE_UNIT = Pattern.compile("1[a-z]+");

    private static final Pattern CALENDAR_PERIOD = Pattern.compile("(\\d{1,18})?(day|week|month|year)");

    public Rate {
        if (permits < 1) {
            throw new IllegalArgumentException("rate must have at least 1 permit");
        }
        if (period.isNegative() || period.isZero() || period.toNanosPart() % 1_000 != 0) {
            throw new IllegalArgumentException("rate must have a period of at least 1 us, in whole microseconds");
        }
        if (calendarUnit != null && !period.equals(calendarUnit.longest())) {
            throw new IllegalArgumentException("rate must have the longest length of its calendar unit as its period");
        }
    }

    /** Creates a rate whose period is a duration. */
    public Rate(long permits, Duration period) {
        this(permits, period, null);
    }

    /** Creates a rate whose period is a calendar unit. */
    public Rate(long permits, CalendarUnit calendarUnit) {
        this(permits, calendarUnit.longest(), calendarUnit);
    }

    /**
     * Parses {@code "10/s"}, {@code "5/10s"}, {@code "3/500ms"} (units {@code us ms s m h d}), {@code "1/PT1M"}
     * (ISO-8601) or {@code "10000/month"} (calendar units {@code day week month year}); a bare number is per second.
     *
     * @throws IllegalArgumentException if the text is not a rate
     */
    public static Rate parse(String text) {
        Matcher matcher = SYNTAX.matcher(text.strip());
        if (!matcher.matches()) {
            throw invalid("rate must be permits per period", text, null);
        }
        String period = matcher.group(2);
        try {
            long permits = Long.parseLong(matcher.group(1));
            CalendarUnit unit = period == null ? null : calendarUnit(period);
            return unit == null
                    ? new Rate(permits, period == null ? Duration.ofSeconds(1) : period(period))
                    : new Rate(permits, unit);
        } catch (DateTimeParseException | ArithmeticException ex) {
            throw invalid("rate must have a duration as its period", text, ex);
        } catch (IllegalArgumentException ex) {
            throw invalid(ex.getMessage(), text, ex);
        }
    }

    /**
     * Parses a rate.
     *
     * @param label the name of the attribute as its author wrote it
     * @throws RateLimitConfigurationException if the text is not a rate
     */
    static Rate parse(String label, String text) {
        try {
            return parse(text);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    label + String.valueOf(ex.getMessage()).substring("rate".length()) + ".",
                    RateSuggestion.of(text)
                                    .map(suggestion -> "Did you mean \"" + suggestion + "\"? ")
                                    .orElse("")
                            + "Write it like " + EXAMPLES + ".",
                    ex);
        }
    }

    private static IllegalArgumentException invalid(
            @Nullable String rule, String text, @Nullable RuntimeException cause) {
        return new IllegalArgumentException(rule + " (was \"" + text + "\")", cause);
    }

    private static @Nullable CalendarUnit calendarUnit(String text) {
        Matcher matcher = CALENDAR_PERIOD.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return null;
        }
        if (matcher.group(1) != null) {
            throw new IllegalArgumentException("rate must have a single calendar unit as its period");
        }
        return CalendarUnit.valueOf(matcher.group(2).toUpperCase(Locale.ROOT));
    }

    private static Duration period(String text) {
        Matcher matcher = SIMPLE_PERIOD.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return Duration.parse(text);
        }
        long amount = matcher.group(1) == null ? 1 : Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "us" -> Duration.ofNanos(Math.multiplyExact(amount, 1_000L));
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }

    /**
     * Returns the period in microseconds.
     *
     * @throws ArithmeticException if it is longer than 292,000 years
     */
    public long periodMicros() {
        return Math.addExact(Math.multiplyExact(period.toSeconds(), 1_000_000L), period.toNanosPart() / 1_000);
    }

    /** Formats the rate in the syntax of {@link #parse}, with the largest unit that divides the period. */
    @Override
    public String toString() {
        String amount = calendarUnit == null ? DurationText.of(period) : calendarUnit.toString();
        return permits + "/" + (ONE_UNIT.matcher(amount).matches() ? amount.substring(1) : amount);
    }

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
}
