package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.TestRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CountHistoryTests {

    private static final CallCounts ONE = new CallCounts(1, 0, 0, 0);

    private final CountHistory history = new CountHistory(1_000);

    @Test
    void keepsTheLastFifteenMinutes() {
        history.add("quotes", ONE);
        history.advance(1_180);
        history.add("quotes", ONE);
        assertThat(history.sum("quotes", 0, 2_000)).isEqualTo(new CallCounts(2, 0, 0, 0));
        history.advance(1_181);
        assertThat(history.get("quotes", 1_000)).isEqualTo(CallCounts.NONE);
        assertThat(history.get("quotes", 1_180)).isEqualTo(ONE);
    }

    @Test
    void forgetsAllAfterALongPause() {
        history.add("quotes", ONE);
        history.advance(1_000_000_000);
        assertThat(history.sum("quotes", 1_000_000_000 - 300, 1_000_000_000)).isEqualTo(CallCounts.NONE);
        assertThat(history.newest()).isEqualTo(1_000_000_000);
    }

    @Test
    void isRenumberedWhenTheClockMoves() {
        history.add("quotes", ONE);
        history.advance(1_003);
        history.add("quotes", ONE.plus(ONE));
        history.renumber(-500);
        assertThat(history.get("quotes", 500)).isEqualTo(ONE);
        assertThat(history.get("quotes", 503)).isEqualTo(ONE.plus(ONE));
        history.advance(504);
        history.add("quotes", ONE);
        assertThat(history.sum("quotes", 500, 504)).isEqualTo(new CallCounts(4, 0, 0, 0));
    }

    @Test
    void equalsAMapOfTheLastIntervals() {
        Random random = TestRandom.create(CountHistoryTests.class);
        Map<Long, CallCounts> expected = new HashMap<>();
        long now = 1_000;
        for (int i = 0; i < 2_000; i++) {
            now += random.nextInt(4) == 0 ? random.nextInt(random.nextInt(20) == 0 ? 400 : 3) : 0;
            CallCounts counts = new CallCounts(random.nextInt(9), random.nextInt(2), 0, 1);
            history.advance(now);
            history.add("quotes", counts);
            expected.merge(now, counts, CallCounts::plus);
            long first = now - CountHistory.INTERVALS + 1;
            for (long interval = now - 200; interval <= now + 1; interval++) {
                assertThat(history.get("quotes", interval))
                        .isEqualTo(
                                interval < first ? CallCounts.NONE : expected.getOrDefault(interval, CallCounts.NONE));
            }
        }
    }
}
