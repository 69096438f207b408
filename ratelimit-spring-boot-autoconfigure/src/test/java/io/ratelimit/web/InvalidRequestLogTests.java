package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class InvalidRequestLogTests {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE);

    private final InvalidRequestLog log = new InvalidRequestLog(nanos::get);

    @Test
    void everyLimitIsLoggedOnceAMinute() {
        assertThat(log.isDue("quotes")).isTrue();
        assertThat(log.isDue("quotes")).isFalse();
        assertThat(log.isDue("others")).isTrue();
        nanos.addAndGet(Duration.ofMinutes(1).toNanos() - 1);
        assertThat(log.isDue("quotes")).isFalse();
        nanos.incrementAndGet();
        assertThat(log.isDue("quotes")).isTrue();
        assertThat(log.isDue("quotes")).isFalse();
    }
}
