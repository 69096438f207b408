package io.ratelimit.internal.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate.CalendarUnit;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.CalendarWindows.Window;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When units of the calendar begin and end. */
@BothTiers
class CalendarWindowsTests {

    private static final long SECOND = 1_000_000;

    @ParameterizedTest
    @CsvSource({
        // Clocks go forward and back.
        "DAY, Europe/Berlin, 2026-03-29T12:00:00Z, 2026-03-28T23:00:00Z, PT23H",
        "DAY, Europe/Berlin, 2026-10-25T12:00:00Z, 2026-10-24T22:00:00Z, PT25H",
        "DAY, Australia/Lord_Howe, 2026-10-04T12:00:00Z, 2026-10-03T13:30:00Z, PT23H30M",
        "WEEK, Europe/Berlin, 2026-03-29T12:00:00Z, 2026-03-22T23:00:00Z, PT167H",
        "MONTH, Europe/Berlin, 2026-10-31T22:59:59Z, 2026-09-30T22:00:00Z, PT745H",
        "MONTH, America/New_York, 2026-03-01T05:00:00Z, 2026-03-01T05:00:00Z, PT743H",
        // Leap years, and a century without one.
        "MONTH, UTC, 2028-02-29T23:59:59Z, 2028-02-01T00:00:00Z, P29D",
        "MONTH, UTC, 2026-02-28T23:59:59Z, 2026-02-01T00:00:00Z, P28D",
        "YEAR, UTC, 2028-12-31T23:59:59Z, 2028-01-01T00:00:00Z, P366D",
        "YEAR, UTC, 2100-06-01T00:00:00Z, 2100-01-01T00:00:00Z, P365D",
        // Weeks begin on Monday, whatever the year.
        "WEEK, UTC, 2027-01-03T23:59:59Z, 2026-12-28T00:00:00Z, P7D",
        "WEEK, Asia/Kathmandu, 2026-11-22T18:15:00Z, 2026-11-22T18:15:00Z, P7D",
        // Samoa moved over the date line and had no December 30; Kiribati had no December 31.
        "DAY, Pacific/Apia, 2011-12-30T09:59:59Z, 2011-12-29T10:00:00Z, PT24H",
        "DAY, Pacific/Apia, 2011-12-30T10:00:00Z, 2011-12-30T10:00:00Z, PT24H",
        "MONTH, Pacific/Apia, 2011-12-30T10:00:00Z, 2011-12-01T10:00:00Z, PT720H",
        "YEAR, Pacific/Kiritimati, 1994-12-31T00:00:00Z, 1994-01-01T10:00:00Z, PT8736H",
        // No midnight: clocks go from 0:00 to 1:00. Two midnights: the day has begun with the first of them.
        "DAY, America/Havana, 2026-03-08T12:00:00Z, 2026-03-08T05:00:00Z, PT23H",
        "DAY, America/Havana, 2026-11-01T12:00:00Z, 2026-11-01T04:00:00Z, PT25H",
        "DAY, America/St_Johns, 2010-11-07T02:31:30Z, 2010-11-07T02:30:00Z, PT25H",
        "DAY, America/St_Johns, 2010-11-07T03:00:00Z, 2010-11-07T02:30:00Z, PT25H"
    })
    void windowIsTheUnitOnTheWallOfThePlace(
            CalendarUnit unit, String zone, Instant time, Instant start, Duration length) {
        Window window = windows(unit, ZoneId.of(zone)).at(time.getEpochSecond() * SECOND);
        assertThat(Instant.ofEpochSecond(window.start() / SECOND)).isEqualTo(start);
        assertThat(Duration.ofSeconds(window.micros() / SECOND)).isEqualTo(length);
    }

    /** In every zone there is, and for as long as clocks are known to have been changed. */
    @Test
    void windowsFollowEachOtherWithoutAGap() {
        Random random = TestRandom.create(getClass());
        List<String> zones = ZoneId.getAvailableZoneIds().stream().sorted().toList();
        for (int i = 0; i < TestRandom.cases(20_000); i++) {
            ZoneId zone = ZoneId.of(zones.get(random.nextInt(zones.size())));
            for (CalendarUnit unit : CalendarUnit.values()) {
                CalendarWindows windows = windows(unit, zone);
                long time = random.nextLong(4_000_000_000L) * SECOND + random.nextLong(SECOND);
                Window window = windows.at(time);
                String what = unit + " in " + zone + " at " + time;
                assertThat(time).as(what).isBetween(window.start(), window.end() - 1);
                assertThat(windows.at(window.end() - 1)).as(what).isEqualTo(window);
                assertThat(windows.at(window.end()).start()).as(what).isEqualTo(window.end());
                assertThat(windows.find(window.start())).as(what).isEqualTo(window);
            }
        }
    }

    /** Before the epoch there is nothing to count, so that no number is negative. */
    @Test
    void noWindowStartsBeforeTheEpoch() {
        Window window = windows(CalendarUnit.DAY, ZoneId.of("Europe/Berlin")).at(0);
        assertThat(window).isEqualTo(new Window(0, 23 * 3_600 * SECOND));
    }

    private static CalendarWindows windows(CalendarUnit unit, ZoneId zone) {
        RateLimit limit = RateLimit.named("calendar")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("1/" + unit)
                .zone(zone)
                .build();
        return Objects.requireNonNull(limit.numbers().calendar());
    }
}
