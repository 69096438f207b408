package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;

/** An application that injects Spring Boot's connection to Redis. */
@SpringBootTest(properties = {"ratelimit.store=redis", "ratelimit.enabled=true", "spring.data.redis.host=localhost"})
@AutoConfigureRateLimits
class ApplicationRedisTests {

    @Autowired
    @Qualifier("stringRedisTemplate")
    Object ofApplication;

    @Autowired
    ExportService exports;

    @Test
    void limitsAreInMemoryAndTheConnectionStays() {
        assertThat(ofApplication).isNotNull();
        exports.export("acme");
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> exports.export("acme"));
    }

    @Nested
    @DisableRateLimits
    class WithoutLimits {

        @Test
        void connectionStays() {
            assertThat(ofApplication).isNotNull();
            exports.export("acme");
            exports.export("acme");
        }
    }
}
