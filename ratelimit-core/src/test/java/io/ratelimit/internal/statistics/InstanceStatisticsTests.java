package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener.Outcome;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class InstanceStatisticsTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 5, "1/s");

    private long interval = 1_000;

    private final CallCounting counting = new CallCounting(null, () -> 0);

    private final InstanceStatistics statistics = new InstanceStatistics(
            counting, new IntervalClock(() -> interval * IntervalClock.STEP.toNanos(), micros(interval)));

    private static long micros(long interval) {
        return interval * IntervalClock.STEP_MICROS;
    }

    private void add(int calls) {
        for (int i = 0; i < calls; i++) {
            counting.onDecision(new Charge(QUOTES, "alice", 1), RateLimitDecision.unlimited(5), Outcome.ALLOWED);
        }
        statistics.sample();
    }

    private static Map<String, CallCounts> allowed(long calls) {
        return Map.of("quotes", new CallCounts(calls, 0, 0, 0));
    }

    @Test
    void keepsTheLastFifteenMinutes() {
        add(1);
        interval = 1_180;
        add(2);
        assertThat(statistics.history()).isEqualTo(Map.of(1_000L, allowed(1), 1_180L, allowed(2)));
        assertThat(statistics.lastMinute()).isEqualTo(allowed(2));
        interval = 1_181;
        add(0);
        assertThat(statistics.history()).isEqualTo(Map.of(1_180L, allowed(2)));
        assertThat(statistics.takeUnpublished(5)).isEqualTo(Map.of(1_180L, allowed(2)));
        assertThat(statistics.takeUnpublished(5)).isEmpty();
    }

    @Test
    void lastMinuteIsThatOfTheTwelveIntervalsBeforeTheOneUnderWay() {
        add(1);
        interval = 1_012;
        add(2);
        assertThat(statistics.lastMinute()).isEqualTo(allowed(3));
        interval = 1_013;
        add(0);
        assertThat(statistics.lastMinute()).isEqualTo(allowed(2));
        interval = 1_000_000_000;
        add(0);
        assertThat(statistics.lastMinute()).isEmpty();
        assertThat(statistics.newest()).isEqualTo(1_000_000_000);
    }

    @Test
    void isRenumberedWhenTheClockMoves() {
        add(1);
        interval = 1_003;
        add(2);
        assertThat(statistics.synchronize(micros(503), micros(503))).isEqualTo(-500);
        assertThat(statistics.history()).isEqualTo(Map.of(500L, allowed(1), 503L, allowed(2)));
        interval = 1_004;
        add(1);
        assertThat(statistics.history()).isEqualTo(Map.of(500L, allowed(1), 503L, allowed(2), 504L, allowed(1)));
        assertThat(statistics.takeUnpublished(2)).isEqualTo(Map.of(500L, allowed(1), 503L, allowed(2)));
    }

    @Test
    void equalsAMapOfTheLastIntervals() {
        Random random = TestRandom.create(InstanceStatisticsTests.class);
        TreeMap<Long, Map<String, CallCounts>> expected = new TreeMap<>();
        for (int i = 0; i < 2_000; i++) {
            interval += random.nextInt(4) == 0 ? random.nextInt(random.nextInt(20) == 0 ? 400 : 3) : 0;
            int calls = 1 + random.nextInt(9);
            add(calls);
            expected.merge(interval, allowed(calls), CallCounts::sum);
            assertThat(statistics.history()).isEqualTo(expected.tailMap(interval - InstanceStatistics.INTERVALS + 1));
        }
    }
}
