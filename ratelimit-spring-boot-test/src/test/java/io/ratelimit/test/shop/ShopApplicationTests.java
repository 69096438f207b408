package io.ratelimit.test.shop;

import static io.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(
        properties = {"ratelimit.limits.payments.max-wait=1m", "ratelimit.limits.payments.plans.gold.capacity=5"})
@AutoConfigureRateLimits
class ShopApplicationTests {

    @Autowired
    ExportService exports;

    @Autowired
    RateLimiterRegistry limits;

    @Autowired
    RateLimitAdmin admin;

    @Autowired
    MutableTimeSource time;

    @BeforeEach
    void useAPermit() {
        exports.export("initech");
    }

    /** More than once: no method finds what another one has used. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void methodFindsFullBuckets(int turn) {
        assertThat(limits.get("exports")).key("acme").isFull();
        assertThat(time.instant()).isEqualTo(MutableTimeSource.START);

        exports.export("acme");
        time.advance(Duration.ofMinutes(turn));

        assertThat(limits.get("exports")).key("acme").isExhausted().hasRetryAfter(Duration.ofMinutes(60 - turn));
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> exports.export("acme"));
    }

    /** More than once, as above. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void methodFindsNoOverrides(int turn) {
        assertThat(limits.get("payments").peek("acme").capacity()).isEqualTo(1);
        assertThat(limits.get("payments").withPlan("gold").peek("acme").capacity())
                .isEqualTo(5);

        RateLimitOverride more =
                RateLimitOverride.builder().capacity(10L * turn).build();
        assertThat(admin.override("payments", more).effective().capacity()).isEqualTo(10L * turn);
        assertThat(admin.forPlan("gold").override("payments", more).effective().capacity())
                .isEqualTo(10L * turn);
    }

    @Test
    void setUpOfAMethodCounts() {
        assertThat(limits.get("exports")).key("initech").isExhausted();
    }

    @Test
    void callThatWaitsMovesTheClock() {
        limits.get("payments").acquire("acme");
        limits.get("payments").acquire("acme");

        assertThat(time.instant()).isEqualTo(MutableTimeSource.START.plusSeconds(30));
        assertThat(limits.get("payments")
                        .tryAcquireAsync("acme", 1)
                        .toCompletableFuture()
                        .join())
                .isAllowed()
                .hasDelay(Duration.ofSeconds(30));
    }

    @Test
    void clockCanBeSetBack() {
        time.set(Instant.EPOCH);
        exports.export("acme");

        assertThat(limits.get("exports")).key("acme").hasResetAfter(Duration.ofHours(1));
    }

    @Test
    @DisableRateLimits
    void oneMethodIsNotLimited() {
        for (int i = 0; i < 3; i++) {
            exports.export("acme");
            limits.get("exports")
                    .tryAcquireAsync("acme", 1)
                    .toCompletableFuture()
                    .join();
        }
        assertThat(limits.get("exports")).key("acme").isFull();
    }
}
