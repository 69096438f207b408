package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class IntervalClockTests {

    private static final long NOON = 1_795_132_800_000_000L;

    private long nanos = 123_456_789_000L;

    private final IntervalClock clock = new IntervalClock(() -> nanos, NOON);

    @Test
    void runsWithTheMonotonicClock() {
        nanos += Duration.ofSeconds(7).toNanos();
        assertThat(clock.micros()).isEqualTo(NOON + 7_000_000);
        assertThat(clock.interval()).isEqualTo(NOON / 5_000_000 + 1);
        assertThat(IntervalClock.begin(clock.interval())).isEqualTo("2026-11-20T00:00:05Z");
    }

    @Test
    void isRightIfTheSharedTimeMayBeItsOwn() {
        assertThat(clock.synchronize(NOON - 20_000, NOON + 20_000)).isZero();
        assertThat(clock.micros()).isEqualTo(NOON);
    }

    @Test
    void isSetByTheLeastThatIsNecessary() {
        assertThat(clock.synchronize(NOON + 20_000, NOON + 40_000)).isZero();
        assertThat(clock.micros()).isEqualTo(NOON + 20_000);
        assertThat(clock.synchronize(NOON, NOON + 10_000)).isZero();
        assertThat(clock.micros()).isEqualTo(NOON + 10_000);
    }

    @Test
    void tellsByHowManyIntervalsItHasMoved() {
        assertThat(clock.synchronize(NOON + 3_600_000_000L, NOON + 3_600_000_000L))
                .isEqualTo(720);
        assertThat(clock.synchronize(NOON, NOON + 10)).isEqualTo(-720);
    }
}
