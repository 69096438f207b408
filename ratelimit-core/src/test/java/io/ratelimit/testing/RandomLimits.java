package io.ratelimit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate;
import io.ratelimit.Rate.CalendarUnit;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.testing.reference.Fraction;
import java.time.Duration;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Limits from the whole range that is possible, and a little beyond it. Those that are refused are drawn again. */
public final class RandomLimits {

    private static final List<LimitKind> KINDS = List.of(LimitKind.values());

    private static final List<CalendarUnit> CALENDAR_UNITS = List.of(CalendarUnit.values());

    private static final List<String> ODD =
            List.of("1/d", "3/7s", "999983/d", "10000000/s", "7/11us", "1/us", "999999937/d", "1/P365D", "13/3h");

    private static final List<String> UNITS = List.of("us", "ms", "s", "m", "h", "d");

    private static final long[] MICROS = {1, 1_000, 1_000_000, 60_000_000, 3_600_000_000L, 86_400_000_000L};

    /** Clocks change at midnight or not at all, days were skipped, and some are on the other side of the date line. */
    private static final List<ZoneId> ZONES = Stream.of(
                    "UTC",
                    "Europe/Berlin",
                    "America/New_York",
                    "America/Havana",
                    "America/Santiago",
                    "Asia/Kathmandu",
                    "Australia/Lord_Howe",
                    "Pacific/Apia",
                    "Pacific/Kiritimati",
                    "+05:45",
                    "-11:00")
            .map(ZoneId::of)
            .toList();

    private final Random random;

    private int drawn;

    private int refused;

    public RandomLimits(Random random) {
        this.random = random;
    }

    public RateLimit next(String name) {
        return next(name, KINDS.get(random.nextInt(KINDS.size())));
    }

    public RateLimit next(String name, LimitKind kind) {
        while (true) {
            DrawnLimit limit = draw(kind);
            drawn++;
            try {
                RateLimit built = limit.build(name);
                assertThat(limit.cannotBeCarried())
                        .as("%s was not refused", limit)
                        .isFalse();
                return built;
            } catch (RateLimitConfigurationException ex) {
                refused++;
                assertThat(limit.cannotBeCarried())
                        .as("%s was refused: %s", limit, ex.getMessage())
                        .isTrue();
            }
        }
    }

    public RateLimit next(String name, RateLimitAlgorithm algorithm) {
        while (true) {
            DrawnLimit limit = draw(LimitKind.TOKEN_BUCKET);
            try {
                return RateLimit.named(name)
                        .algorithm(algorithm)
                        .capacity(limit.capacity())
                        .rate(limit.rate().toString())
                        .build();
            } catch (RateLimitConfigurationException ex) {
                refused++;
            }
        }
    }

    /** Windows that are calendar units, somewhere. */
    public RateLimit nextCalendarWindow(String name) {
        CalendarUnit unit = CALENDAR_UNITS.get(random.nextInt(CALENDAR_UNITS.size()));
        return RateLimit.named(name)
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate((random.nextBoolean() ? 10 : capacity(LimitKind.FIXED_WINDOW)) + "/" + unit)
                .zone(ZONES.get(random.nextInt(ZONES.size())))
                .build();
    }

    private DrawnLimit draw(LimitKind kind) {
        Rate rate = Rate.parse(rate());
        long capacity = random.nextInt(4) == 0 ? 0 : capacity(kind);
        if (kind == LimitKind.SLIDING_WINDOW && random.nextInt(8) > 0) {
            capacity = withWholeWindow(capacity, rate);
        }
        return new DrawnLimit(kind, rate, capacity, kind.waits() ? maxWait(rate, capacity) : Duration.ZERO);
    }

    /** Small ones more often than not: calls reach their limits sooner. */
    private long capacity(LimitKind kind) {
        if (random.nextInt(3) == 0) {
            return random.nextLong(20) + 1;
        }
        return TestRandom.logarithmic(random, 1, kind == LimitKind.SLIDING_WINDOW_LOG ? 11_000 : 1_000_000_000);
    }

    private static long withWholeWindow(long capacity, Rate rate) {
        long step = Fraction.of(rate.permits())
                .dividedBy(Fraction.of(rate.periodMicros()))
                .numerator()
                .longValueExact();
        return step * ((capacity + step - 1) / step);
    }

    /** A few permits' time, about a bucket's, or anything. */
    private Duration maxWait(Rate rate, long capacity) {
        double permitTime = (double) rate.periodMicros() / rate.permits();
        double micros = switch (random.nextInt(3)) {
            case 0 -> permitTime * (1 + random.nextInt(5)) + random.nextInt(3) - 1;
            case 1 -> permitTime * capacity * random.nextDouble(2);
            default -> TestRandom.logarithmic(random, 1, 1_000_000_000_000L);
        };
        return Duration.of(Math.max(1, (long) Math.min(micros, 1e15)), ChronoUnit.MICROS);
    }

    /** At a rate from 1 a day to 10 million a second. */
    private String rate() {
        if (random.nextInt(8) == 0) {
            return ODD.get(random.nextInt(ODD.size()));
        }
        while (true) {
            int unit = random.nextInt(UNITS.size());
            long periods = random.nextBoolean() ? 1 : TestRandom.logarithmic(random, 1, 1_000);
            long permits = TestRandom.logarithmic(random, 1, 10_000_000_000L);
            double perSecond = permits * 1e6 / periods / MICROS[unit];
            if (perSecond <= 10_000_000 && perSecond >= 1 / 86_400.0) {
                return permits + "/" + periods + UNITS.get(unit);
            }
        }
    }

    @Override
    public String toString() {
        return drawn + " limits drawn, " + refused + " refused";
    }
}
