package io.ratelimit.test.shop;

import static io.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigureRateLimits
class ExportLimitTests {

    @Autowired
    ExportService service;

    @Autowired
    RateLimiterRegistry limits;

    @Autowired
    MutableTimeSource time;

    @Test
    void oneExportAnHour() {
        service.export("acme");
        assertThatThrownBy(() -> service.export("acme")).isInstanceOf(RateLimitExceededException.class);

        time.advance(Duration.ofHours(1));

        service.export("acme");
    }

    @Test
    void eachTenantHasItsOwnBucket() {
        RateLimiter exports = limits.get("exports");

        service.export("acme");

        assertThat(exports).key("acme").isExhausted().hasRetryAfter(Duration.ofHours(1));
        assertThat(exports).key("globex").hasRemaining(1).isFull();
        assertThat(exports.tryAcquire("globex")).isAllowed().hasRemaining(0);
    }

    @Test
    @DisableRateLimits
    void manyExports() {
        for (int i = 0; i < 100; i++) {
            service.export("acme");
        }
    }
}
