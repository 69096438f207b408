package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class InstanceCountTests {

    private final InstanceCount count = new InstanceCount();

    /** The monotonic clock may be negative. */
    private long second = -1_000;

    @Test
    void isNotKnownBeforeItIsTold() {
        assertThat(count.get()).isZero();
        tell(1);
        assertThat(count.get()).isEqualTo(1);
    }

    @Test
    void moreInstancesCountAtOnceAndFewerAfterHalfAMinute() {
        tell(2);
        tell(20);
        assertThat(count.get()).isEqualTo(20);
        for (int i = 0; i < 30; i++) {
            tell(5);
            assertThat(count.get()).isEqualTo(20);
        }
        tell(4);
        assertThat(count.get()).isEqualTo(4);
    }

    @Test
    void instancesThatAreBackInTimeWereNeverGone() {
        tell(20);
        for (int i = 0; i < 100; i++) {
            tell(i % 20 == 0 ? 20 : 1);
        }
        assertThat(count.get()).isEqualTo(20);
    }

    @Test
    void outageIsNoTimeWithFewerInstances() {
        tell(20);
        tell(19);
        count.keep();
        second += 600;
        tell(1);
        assertThat(count.get()).isEqualTo(20);
    }

    private void tell(int counted) {
        count.update(counted, Duration.ofSeconds(second++).toNanos());
    }
}
