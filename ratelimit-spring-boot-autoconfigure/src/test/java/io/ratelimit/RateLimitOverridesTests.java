package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
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
        LimitOverrides all = new LimitOverrides(
                PROPERTY,
                Algorithm.FIXED_WINDOW,
                3L,
                "3/m",
                null,
                null,
                null,
                Refill.CONTINUOUS,
                Duration.ZERO,
                false,
                true,
                OnStoreFailure.THROW);
        RateLimit limit = declared.with(settings(all));
        assertThat(limit).hasToString("FIXED_WINDOW, capacity 3 at 3/m, dry run, disabled");
        assertThat(limit.onStoreFailure()).isEqualTo(OnStoreFailure.THROW);
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
        assertMistake(overrides("fast", null, null, null), PROPERTY + ".rate is wrong");
        assertMistake(overrides(null, -1L, null, null), PROPERTY + ".capacity -1 is out of range");
        LimitOverrides waiting = new LimitOverrides(
                PROPERTY, null, null, null, null, null, null, null, Duration.ofSeconds(1), null, null, null);
        assertMistake(waiting, PROPERTY + ".max-wait is not supported yet");
        LimitOverrides sliding = new LimitOverrides(
                PROPERTY, Algorithm.SLIDING_WINDOW, null, null, null, null, null, null, null, null, null, null);
        assertMistake(sliding, PROPERTY + ".algorithm SLIDING_WINDOW is not supported yet");
    }

    private void assertMistake(LimitOverrides overrides, String problem) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> declared.with(settings(overrides)))
                .withMessageContaining(problem);
    }

    private static RateLimitSettings settings(LimitOverrides overrides) {
        return new RateLimitSettings(false, OnStoreFailure.LOCAL, Map.of("quotes", overrides));
    }

    private static LimitOverrides overrides(String rate, Long capacity, Boolean dryRun, OnStoreFailure policy) {
        return new LimitOverrides(PROPERTY, null, capacity, rate, null, null, null, null, null, null, dryRun, policy);
    }
}
