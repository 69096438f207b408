package io.ratelimit.sample;

import static io.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** One controller, without Redis and without waiting. */
@WebMvcTest(QuoteController.class)
@AutoConfigureRateLimits
class QuoteLimitTests {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimiterRegistry limits;

    @Autowired
    MutableTimeSource time;

    @Test
    void fiveQuotesThenOneASecond() {
        for (int i = 0; i < 5; i++) {
            assertThat(mvc.get().uri("/api/quotes?user=alice")).hasStatusOk();
        }
        assertThat(mvc.get().uri("/api/quotes?user=alice")).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
        assertThat(limits.get("quotes")).key("alice").isExhausted().hasRetryAfter(Duration.ofSeconds(1));
        assertThat(limits.get("quotes")).key("bob").isFull();

        time.advance(Duration.ofSeconds(1));

        assertThat(mvc.get().uri("/api/quotes?user=alice")).hasStatusOk();
    }
}
