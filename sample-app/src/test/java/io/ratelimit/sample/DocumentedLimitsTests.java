package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;
import redis.embedded.RedisServer;

/** The sample as it comes: its own configuration, its own Redis. */
class DocumentedLimitsTests {

    private static Sample sample;

    @BeforeAll
    static void start() {
        sample = Sample.start();
    }

    @AfterAll
    static void stop() {
        RedisServer redis = sample.bean(RedisServer.class);

        sample.close();

        assertThat(redis.isActive()).isFalse();
    }

    @Test
    void annotationsAndConfigurationGiveTheDocumentedNumbers() {
        assertLimit("quotes", "TOKEN_BUCKET", 5, "1/s");
        assertLimit("login", "FIXED_WINDOW", 3, "3/m");
        assertLimit("reports", "TOKEN_BUCKET", 100, "100/m");
    }

    /** At least five, because on a slow machine tokens come back meanwhile. */
    @Test
    void afterFiveQuotesOneASecond() {
        int quotes = 0;
        ResponseSpec response = sample.quote("alice");
        while (isOk(response) && quotes < 100) {
            quotes++;
            response = sample.quote("alice");
        }

        assertThat(quotes).isGreaterThanOrEqualTo(5);
        response.expectStatus()
                .isEqualTo(HttpStatus.TOO_MANY_REQUESTS)
                .expectHeader()
                .valueEquals(HttpHeaders.RETRY_AFTER, "1");
    }

    @Test
    void redisDecides() {
        sample.login("bob").expectStatus().isOk();

        sample.get("/actuator/metrics/ratelimit.store?tag=store:in_memory")
                .expectBody()
                .jsonPath("$.measurements[?(@.statistic == 'COUNT')].value")
                .isEqualTo(0.0);
    }

    private static void assertLimit(String name, String algorithm, int capacity, String rate) {
        String limit = "$.limits." + name;
        sample.get("/actuator/ratelimits")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath(limit + ".algorithm")
                .isEqualTo(algorithm)
                .jsonPath(limit + ".capacity")
                .isEqualTo(capacity)
                .jsonPath(limit + ".rate")
                .isEqualTo(rate)
                .jsonPath(limit + ".refill")
                .isEqualTo("CONTINUOUS")
                .jsonPath(limit + ".maxWait")
                .isEqualTo("PT0S");
    }

    private static boolean isOk(ResponseSpec response) {
        return response.returnResult().getStatus().is2xxSuccessful();
    }
}
