package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.HttpStatus;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@WebMvcTest(QuoteController.class)
@AutoConfigureRateLimits
class QuoteLimitTests {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    MutableTimeSource time;

    @MockitoBean
    ExportService exports;

    @Test
    void twoQuotesAMinute() {
        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk();
        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk();
        assertThat(mvc.get().uri("/quotes?user=alice"))
                .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                .hasHeader("Retry-After", "30");

        time.advance(Duration.ofSeconds(30));

        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk();
    }
}
