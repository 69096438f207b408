package io.ratelimit.web.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpHeaders;

class RetryAfterTests {

    private static final long NOW = Instant.parse("2026-11-22T12:00:00Z").getEpochSecond() * 1_000_000;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            7                             | 7
            ' 7 '                         | 7
            0                             | 0
            00000000005                   | 5
            3601                          | 3600
            999999999                     | 3600
            99999999999999999999999999999 | 3600
            -5                            | 0
            1.5                           | 0
            soon                          | 0
            ''                            | 0
            Sun, 22 Nov 2026 12:00:30 GMT | 30
            Sun, 22 Nov 2026 11:00:00 GMT | 0
            Sun, 22 Nov 2099 12:00:00 GMT | 3600
            Sun, 99 Nov 2026 12:00:30 GMT | 0
            """)
    void readsSecondsAndDatesAndIgnoresWhatItCannotRead(String value, long seconds) {
        HttpHeaders headers = new HttpHeaders();
        headers.set("Retry-After", value);
        assertThat(RetryAfter.micros(headers, NOW)).isEqualTo(seconds * 1_000_000);
    }

    @Test
    void dateIsComparedWithTheRemoteClock() {
        HttpHeaders headers = new HttpHeaders();
        headers.set("Retry-After", "Sun, 22 Nov 2026 11:00:20 GMT");
        headers.set("Date", "Sun, 22 Nov 2026 11:00:00 GMT");
        assertThat(RetryAfter.micros(headers, NOW)).isEqualTo(20_000_000);
    }

    @Test
    void absentHeaderIsNoPause() {
        assertThat(RetryAfter.micros(new HttpHeaders(), NOW)).isZero();
    }
}
