package io.ratelimit.sample;

import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;

/** What the next start finds: the buckets of the last one, and what its own configuration says. */
@LongRunning
class RestartTests {

    private static final String SLOWLY = "ratelimit.limits.quotes.rate=1/h";

    private final String keyPrefix = Sample.newKeyPrefix();

    @Test
    void limitsSurviveARestart() {
        try (Sample sample = Sample.startOnSharedRedis(keyPrefix, SLOWLY)) {
            for (int i = 0; i < 5; i++) {
                sample.quote("alice").expectStatus().isOk();
            }
        }

        try (Sample restarted = Sample.startOnSharedRedis(keyPrefix, SLOWLY)) {
            restarted.quote("alice").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
            restarted.quote("bob").expectStatus().isOk();
        }
    }

    @Test
    void configurationWinsOverTheAnnotation() {
        String smaller = "ratelimit.limits.quotes.capacity=2";
        try (Sample sample = Sample.startOnSharedRedis(keyPrefix, SLOWLY, smaller)) {
            sample.quote("alice").expectStatus().isOk();
            sample.quote("alice").expectStatus().isOk();
            sample.quote("alice").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
        }
    }
}
