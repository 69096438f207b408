package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class OnceAMinuteTests {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE);

    private final OnceAMinute lines = new OnceAMinute(nanos::get);

    @Test
    void everySubjectIsLoggedOnceAMinute() {
        assertThat(lines.isDue("quotes")).isTrue();
        assertThat(lines.isDue("quotes")).isFalse();
        assertThat(lines.isDue("others")).isTrue();
        nanos.addAndGet(Duration.ofMinutes(1).toNanos() - 1);
        assertThat(lines.isDue("quotes")).isFalse();
        nanos.incrementAndGet();
        assertThat(lines.isDue("quotes")).isTrue();
        assertThat(lines.isDue("quotes")).isFalse();
    }
}
