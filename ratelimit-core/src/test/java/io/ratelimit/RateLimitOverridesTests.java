package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
        RateLimit limit = declared.with(settings(overrides(null, 7L, null, null)));
        assertThat(limit).hasToString("TOKEN_BUCKET, capacity 7 at 10/s");
        assertThat(declared.with(new RateLimitSettings(false, OnStoreFailure.LOCAL, Map.of())))
                .hasToString(declared.toString());
    }

    @Test
    void everyAttributeCanBeOverridden() {
        LimitOverrides all = LimitOverrides.at(PROPERTY)
                .algorithm(Algorithm.FIXED_WINDOW)
                .capacity(3L)
                .rate("3/m")
                .refill(Refill.CONTINUOUS)
                .maxWait(Duration.ZERO)
                .enabled(false)
                .dryRun(true)
                .onStoreFailure(OnStoreFailure.THROW)
                .blockFor(List.of(Duration.ofMinutes(1), Duration.ofHours(1)))
                .build();
        RateLimit limit = declared.with(settings(all));
        assertThat(limit).hasToString("FIXED_WINDOW, capacity 3 at 3/m, blockFor 1m then 1h, dry run, disabled");
        assertThat(limit.onStoreFailure()).isEqualTo(OnStoreFailure.THROW);
        LimitOverrides lease = LimitOverrides.at(PROPERTY).lease(2L).build();
        assertThat(declared.with(settings(lease)).lease()).isEqualTo(2);
    }

    @Test
    void limitsOwnWordWinsOverTheGeneralOne() {
        RateLimitSettings general = new RateLimitSettings(
                true, OnStoreFailure.REJECT, Map.of("quotes", overrides(null, null, false, OnStoreFailure.ALLOW)));
        assertThat(declared.with(general).dryRun()).isFalse();
        assertThat(declared.with(general).onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
        RateLimit other = RateLimit.named("other").rate("1/s").apply(general).build();
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
        assertThat(declared.with(settings(counting(null, Refill.INTERVAL, null))))
                .hasToString("TOKEN_BUCKET, capacity 5 at 10/s, refill INTERVAL");
        assertThat(declared.with(settings(counting(Algorithm.LEAKY_BUCKET, null, Duration.ofSeconds(1)))))
                .hasToString("LEAKY_BUCKET, capacity 5 at 10/s, maxWait 1s");
    }

    @Test
    void declaredMaxWaitCanBeTakenBack() {
        RateLimit waiting = RateLimit.named("Quotes")
                .rate("10/s")
                .maxWait(Duration.ofSeconds(1))
                .build();
        assertThat(waiting.with(settings(counting(Algorithm.FIXED_WINDOW, null, Duration.ZERO))))
                .hasToString("FIXED_WINDOW, capacity 10 at 10/s");
    }

    private void assertMistake(LimitOverrides overrides, String problem) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> declared.with(settings(overrides)))
                .withMessageContaining(problem);
    }

    private static RateLimitSettings settings(LimitOverrides overrides) {
        return new RateLimitSettings(false, OnStoreFailure.LOCAL, Map.of("quotes", overrides));
    }

    private static LimitOverrides counting(Algorithm algorithm, Refill refill, Duration maxWait) {
        return LimitOverrides.at(PROPERTY)
                .algorithm(algorithm)
                .refill(refill)
                .maxWait(maxWait)
                .build();
    }

    private static LimitOverrides overrides(String rate, Long capacity, Boolean dryRun, OnStoreFailure policy) {
        return overrides(rate, capacity, dryRun, policy, null);
    }

    private static LimitOverrides overrides(
            String rate, Long capacity, Boolean dryRun, OnStoreFailure policy, Algorithm algorithm) {
        return LimitOverrides.at(PROPERTY)
                .algorithm(algorithm)
                .capacity(capacity)
                .rate(rate)
                .dryRun(dryRun)
                .onStoreFailure(policy)
                .build();
    }
}
