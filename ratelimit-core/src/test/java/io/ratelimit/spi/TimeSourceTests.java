package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TimeSourceTests {

    @Test
    void readingOfTheMonotonicClockStandsForItsTime() {
        TimeSource clock = TimeSource.monotonic();
        long before = clock.micros();
        long nanos = System.nanoTime();
        long after = clock.micros();
        assertThat(clock.micros(nanos)).isBetween(before, after);
        assertThat(clock.micros(nanos + 5_000_000)).isEqualTo(clock.micros(nanos) + 5_000);
    }

    @Test
    void otherClockIsReadInstead() {
        TimeSource clock = () -> 42;
        assertThat(clock.micros(System.nanoTime())).isEqualTo(42);
    }
}
