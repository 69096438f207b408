package io.ratelimit.test.shop;

import static io.ratelimit.test.RateLimitAssertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A mock is not limited, but it does not hide a limit that the configuration or another bean refers to. */
@SpringBootTest(properties = "ratelimit.limits.exports.capacity=2")
@AutoConfigureRateLimits
class MockedLimitTests {

    @MockitoBean
    ExportService exports;

    @Test
    void limitOfAMockIsDeclaredAndNotApplied(@Autowired RateLimiterRegistry limits) {
        for (int i = 0; i < 3; i++) {
            exports.export("acme");
        }

        assertThat(limits.get("exports")).key("acme").hasCapacity(2).isFull();
    }
}
