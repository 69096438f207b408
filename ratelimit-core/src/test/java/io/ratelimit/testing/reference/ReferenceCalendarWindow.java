package io.ratelimit.testing.reference;

import io.ratelimit.Rate.CalendarUnit;
import java.time.Instant;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.IsoFields;
import org.jspecify.annotations.Nullable;

/** Counts what is taken while the calendar on the wall of a place shows the same unit. Knows nothing of when units begin. */
public final class ReferenceCalendarWindow implements ReferenceBucket {

    private static final long LONGER_THAN_A_YEAR = 400L * 86_400_000_000L;

    private final CalendarUnit unit;

    private final ZoneId zone;

    private @Nullable Object counted;

    private long count;

    public ReferenceCalendarWindow(CalendarUnit unit, ZoneId zone) {
        this.unit = unit;
        this.zone = zone;
    }

    /** What the calendar shows. */
    private Object shown(long micros) {
        ZonedDateTime time =
                Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000)).atZone(zone);
        return switch (unit) {
            case DAY -> time.toLocalDate();
            case WEEK -> time.get(IsoFields.WEEK_BASED_YEAR) + "-W" + time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR);
            case MONTH -> YearMonth.from(time);
            case YEAR -> Year.from(time);
        };
    }

    @Override
    public Fraction used(long now) {
        return Fraction.of(shown(now).equals(counted) ? count : 0);
    }

    @Override
    public void take(long now, long permits, Object call) {
        if (!shown(now).equals(counted)) {
            counted = shown(now);
            count = 0;
        }
        count += permits;
    }

    @Override
    public void refund(long now, Object call, long permits) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void grant(long now, long permits) {
        if (shown(now).equals(counted)) {
            count = Math.max(0, count - permits);
        }
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        return used(now).compareTo(mostUsed) <= 0 ? Fraction.ZERO : Fraction.of(end(now) - now);
    }

    /** The first microsecond that shows another unit. */
    private long end(long now) {
        long same = now;
        long other = now + LONGER_THAN_A_YEAR;
        while (other - same > 1) {
            long middle = (same + other) / 2;
            if (shown(middle).equals(shown(now))) {
                same = middle;
            } else {
                other = middle;
            }
        }
        return other;
    }
}
