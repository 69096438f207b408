package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The configuration wins over a declaration, attribute by attribute, and is named where it is wrong. */
class RateLimitOverridesTests {

    private static final String PROPERTY = "ratelimit.limits.quotes";

    private final RateLimit declared =
            RateLimit.named("Quotes").capacity(5).rate("10/s").build();

    @Test
    void whatIsNotSaidStaysAsDeclared() {
        RateLimit limit = settings(overrides(null, 7L, null, null)).apply(declared);
        assertThat(limit).hasToString("TOKEN_BUCKET, capacity 7 at 10/s");
        assertThat(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()).apply(declared))
                .hasToString(declared.toString());
    }

    @Test
    void everyAttributeCanBeOverridden() {
        LimitConfiguration all = LimitConfiguration.of("quotes")
                .with(LimitAttributes.ALGORITHM, LimitAlgorithm.of(Algorithm.FIXED_WINDOW))
                .with(LimitAttributes.CAPACITY, 3L)
                .with(LimitAttributes.RATE, "3/m")
                .with(LimitAttributes.REFILL, Refill.CONTINUOUS)
                .with(LimitAttributes.MAX_WAIT, Duration.ZERO)
                .with(LimitAttributes.ENABLED, false)
                .with(LimitAttributes.DRY_RUN, true)
                .with(LimitAttributes.ON_STORE_FAILURE, OnStoreFailure.THROW)
                .with(LimitAttributes.BLOCK_FOR, List.of(Duration.ofMinutes(1), Duration.ofHours(1)));
        RateLimit limit = settings(all).apply(declared);
        assertThat(limit).hasToString("FIXED_WINDOW, capacity 3 at 3/m, blockFor 1m then 1h, dry run, disabled");
        assertThat(limit.onStoreFailure()).isEqualTo(OnStoreFailure.THROW);
        LimitConfiguration lease = LimitConfiguration.of("quotes").with(LimitAttributes.LEASE, 2L);
        assertThat(settings(lease).apply(declared).lease()).isEqualTo(2);
    }

    @Test
    void limitsOwnWordWinsOverTheGeneralOne() {
        RateLimitSettings general = TestSettings.of(
                true, OnStoreFailure.REJECT, Map.of("quotes", overrides(null, null, false, OnStoreFailure.ALLOW)));
        assertThat(general.apply(declared).dryRun()).isFalse();
        assertThat(general.apply(declared).onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
        RateLimit other = general.apply(RateLimit.named("other").rate("1/s"));
        assertThat(other.dryRun()).isTrue();
        assertThat(other.onStoreFailure()).isEqualTo(OnStoreFailure.REJECT);
    }

    @Test
    void mistakeInTheConfigurationNamesItsProperty() {
        assertMistake(overrides("fast", null, null, null), PROPERTY + ".rate must be permits per period");
        assertMistake(overrides(null, -1L, null, null), PROPERTY + ".capacity must be from 1 to");
        assertMistake(
                counting(Algorithm.FIXED_WINDOW, null, Duration.ofSeconds(1)),
                PROPERTY + ".max-wait must be 0 for FIXED_WINDOW, which cannot reserve permits (was ");
        assertMistake(
                counting(null, null, Duration.ofSeconds(-1)), PROPERTY + ".max-wait must not be negative (was -1s).");
        assertMistake(
                counting(Algorithm.SLIDING_WINDOW, Refill.INTERVAL, null),
                PROPERTY + ".refill must be CONTINUOUS for SLIDING_WINDOW (was INTERVAL).");
        assertMistake(
                overrides("3/7s", 10L, null, null, Algorithm.SLIDING_WINDOW),
                PROPERTY + ".capacity must be a multiple of ");
    }

    @Test
    void algorithmRefillAndMaxWaitCanBeOverridden() {
        assertThat(settings(counting(null, Refill.INTERVAL, null)).apply(declared))
                .hasToString("TOKEN_BUCKET, capacity 5 at 10/s, refill INTERVAL");
        assertThat(settings(counting(Algorithm.LEAKY_BUCKET, null, Duration.ofSeconds(1)))
                        .apply(declared))
                .hasToString("LEAKY_BUCKET, capacity 5 at 10/s, maxWait 1s");
    }

    @Test
    void declaredMaxWaitCanBeTakenBack() {
        RateLimit waiting = RateLimit.named("Quotes")
                .rate("10/s")
                .maxWait(Duration.ofSeconds(1))
                .build();
        assertThat(settings(counting(Algorithm.FIXED_WINDOW, null, Duration.ZERO))
                        .apply(waiting))
                .hasToString("FIXED_WINDOW, capacity 10 at 10/s");
    }

    private void assertMistake(LimitConfiguration overrides, String problem) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> settings(overrides).apply(declared))
                .withMessageContaining(problem);
    }

    private static RateLimitSettings settings(LimitConfiguration overrides) {
        return TestSettings.of(false, OnStoreFailure.LOCAL, Map.of("quotes", overrides));
    }

    private static LimitConfiguration counting(Algorithm algorithm, Refill refill, Duration maxWait) {
        return LimitConfiguration.of("quotes")
                .with(LimitAttributes.ALGORITHM, algorithm == null ? null : LimitAlgorithm.of(algorithm))
                .with(LimitAttributes.REFILL, refill)
                .with(LimitAttributes.MAX_WAIT, maxWait);
    }

    private static LimitConfiguration overrides(String rate, Long capacity, Boolean dryRun, OnStoreFailure policy) {
        return overrides(rate, capacity, dryRun, policy, null);
    }

    private static LimitConfiguration overrides(
            String rate, Long capacity, Boolean dryRun, OnStoreFailure policy, Algorithm algorithm) {
        return LimitConfiguration.of("quotes")
                .with(LimitAttributes.ALGORITHM, algorithm == null ? null : LimitAlgorithm.of(algorithm))
                .with(LimitAttributes.CAPACITY, capacity)
                .with(LimitAttributes.RATE, rate)
                .with(LimitAttributes.DRY_RUN, dryRun)
                .with(LimitAttributes.ON_STORE_FAILURE, policy);
    }
}
