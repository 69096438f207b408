package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RejectedKeysTests {

    private long nanos = -Duration.ofMinutes(2).toNanos();

    private final RejectedKeys keys = new RejectedKeys(() -> nanos);

    @Test
    void keysAreThoseOfTheLastMinutes() {
        keys.add("alice");
        nanos += Duration.ofMinutes(4).toNanos();
        keys.add("bob");
        keys.add("bob");
        assertThat(keys.report().counts()).containsExactly(new KeyCount("bob", 2, 0), new KeyCount("alice", 1, 0));
        nanos += Duration.ofMinutes(1).toNanos();
        assertThat(keys.report().counts()).containsExactly(new KeyCount("bob", 2, 0));
        nanos += Duration.ofMinutes(10).toNanos();
        assertThat(keys.report()).isEqualTo(KeyReport.NONE);
    }

    @Test
    void saysWhetherAReportHasChanged() {
        assertThat(keys.takeChanged()).isFalse();
        keys.add("alice");
        assertThat(keys.takeChanged()).isTrue();
        assertThat(keys.takeChanged()).isFalse();
        nanos += Duration.ofMinutes(5).toNanos();
        assertThat(keys.takeChanged()).isTrue();
        assertThat(keys.takeChanged()).isFalse();
    }
}
