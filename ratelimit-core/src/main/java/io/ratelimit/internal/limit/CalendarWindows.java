package io.ratelimit.internal.limit;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.function.UnaryOperator;

/**
 * Divides time into the units of a calendar in a time zone, by this JVM's time zone database. Times are microseconds of the
 * epoch. Windows follow each other without a gap: if the first midnight of a unit is skipped or comes twice, the window begins
 * when the day first does.
 */
public final class CalendarWindows {

    private final String unit;

    private final UnaryOperator<LocalDate> first;

    private final UnaryOperator<LocalDate> next;

    private final ZoneId zone;

    /** Nearly every call is in the window of the call before it. */
    private volatile Window last = new Window(0, 0);

    /**
     * Creates the windows of a unit.
     *
     * @param first returns the first day of the unit that contains a day
     * @param next returns the first day of the next unit
     */
    public CalendarWindows(String unit, UnaryOperator<LocalDate> first, UnaryOperator<LocalDate> next, ZoneId zone) {
        this.unit = unit;
        this.first = first;
        this.next = next;
        this.zone = zone;
    }

    /** Returns the unit as a rate has it: {@code month}. */
    public String unit() {
        return unit;
    }

    /** Returns the window that contains a time. */
    public Window at(long micros) {
        Window known = last;
        if (known.contains(micros)) {
            return known;
        }
        Window found = find(micros);
        last = found;
        return found;
    }

    /** Returns the window that contains a time other than the present one. */
    public Window find(long micros) {
        LocalDate begin = first.apply(Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L))
                .atZone(zone)
                .toLocalDate());
        // Clocks that go back over midnight show the day before once more.
        while (micros >= start(next.apply(begin))) {
            begin = next.apply(begin);
        }
        return new Window(Math.max(0, start(begin)), start(next.apply(begin)));
    }

    private long start(LocalDate first) {
        return first.atStartOfDay(zone).toEpochSecond() * 1_000_000;
    }

    /**
     * Returns the window in which a bucket is full again after a time, by a clock that may be wrong by less than half a window.
     *
     * @param clock the time now, more or less
     * @param resetMicros until the bucket is full again, exactly; 0: it is
     */
    public Window current(long clock, long resetMicros) {
        Window window = at(clock);
        if (resetMicros == 0 || resetMicros > window.micros()) {
            return window;
        }
        Window ending = find(clock + resetMicros);
        return clock + resetMicros - ending.start() < ending.end() - clock - resetMicros
                ? find(ending.start() - 1)
                : ending;
    }

    /**
     * A calendar unit.
     *
     * @param start its first microsecond
     * @param end the first microsecond after it
     */
    public record Window(long start, long end) {

        boolean contains(long micros) {
            return start <= micros && micros < end;
        }

        /** Returns its length. */
        public long micros() {
            return end - start;
        }
    }
}
