package io.ratelimit.test.quota;

import static io.ratelimit.test.RateLimitAssertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigureRateLimits
class MonthlyQuotaTests {

    @Autowired
    RateLimiterRegistry limiters;

    @Autowired
    MutableTimeSource clock;

    @Test
    void quotaIsRenewedOnTheFirst() {
        clock.set(Instant.parse("2026-03-15T12:00:00Z"));
        assertThat(limiters.get("api-quota").tryAcquire("alice", 10_000)).isAllowed();
        clock.set(Instant.parse("2026-03-31T21:59:59Z"));
        assertThat(limiters.get("api-quota").tryAcquire("alice")).isRejected();
        clock.set(Instant.parse("2026-03-31T22:00:00Z"));
        assertThat(limiters.get("api-quota").tryAcquire("alice")).isAllowed();
    }
}
