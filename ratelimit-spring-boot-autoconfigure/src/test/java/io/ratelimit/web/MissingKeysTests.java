package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MissingKeysTests {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE);

    private final MissingKeys missing = new MissingKeys(400, nanos::get);

    @Test
    void everyLimitIsLoggedOnceAMinute() {
        assertThat(missing.isDue("quotes")).isTrue();
        assertThat(missing.isDue("quotes")).isFalse();
        assertThat(missing.isDue("others")).isTrue();
        nanos.addAndGet(Duration.ofMinutes(1).toNanos() - 1);
        assertThat(missing.isDue("quotes")).isFalse();
        nanos.incrementAndGet();
        assertThat(missing.isDue("quotes")).isTrue();
        assertThat(missing.isDue("quotes")).isFalse();
    }
}
