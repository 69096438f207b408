package io.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MutableTimeSourceTests {

    private final MutableTimeSource time = new MutableTimeSource();

    @Test
    void standsStillUntilItIsMoved() {
        assertThat(time.micros()).isEqualTo(time.micros());
        time.advance(Duration.ofMillis(1_500));
        assertThat(time.instant()).isEqualTo(MutableTimeSource.START.plusMillis(1_500));
        time.advance(Duration.ofNanos(1));
        assertThat(time.instant())
                .isEqualTo(MutableTimeSource.START.plusMillis(1_500).plusNanos(1_000));
        time.reset();
        assertThat(time.instant()).isEqualTo(MutableTimeSource.START);
    }

    @Test
    void canBeSetToAnyTime() {
        Instant earlier = Instant.parse("1969-12-31T23:59:59.999999Z");
        time.set(earlier);
        assertThat(time.instant()).isEqualTo(earlier);
        assertThat(time.micros()).isEqualTo(-1);
    }

    @Test
    void advancesOnlyForward() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> time.advance(Duration.ofSeconds(-1)))
                .withMessage("time must not be negative (was PT-1S)");
    }
}
