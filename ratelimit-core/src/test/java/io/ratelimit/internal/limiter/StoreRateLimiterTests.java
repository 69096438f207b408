package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;

class StoreRateLimiterTests {

    private final RateLimiter limiter = limiter(TestLimits.tokenBucket("quotes", 3, "3/h"));

    @Test
    void takesAndPeeksAndForgets() {
        assertThat(limiter.tryAcquire("alice", 2).remaining()).isEqualTo(1);
        assertThat(limiter.peek("alice").remaining()).isEqualTo(1);
        assertThat(limiter.tryAcquireAsync("alice", 1)
                        .toCompletableFuture()
                        .join()
                        .remaining())
                .isZero();
        assertThat(limiter.tryAcquire("alice").allowed()).isFalse();
        assertThat(limiter.tryAcquire("bob").allowed()).isTrue();
        limiter.reset("alice");
        assertThat(limiter.peek("alice").remaining()).isEqualTo(3);
    }

    @Test
    void acquireThrowsWhereThereIsNothing() {
        limiter.tryAcquire("secret", 3);
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> limiter.acquire("secret"))
                .withMessage("Rate limit 'quotes' exceeded")
                .satisfies(ex -> assertThat(ex.getDecision().retryAfter()).isEqualTo(Duration.ofMinutes(20)));
    }

    @ParameterizedTest
    @NullAndEmptySource
    void keyIsNeitherNullNorEmpty(String key) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.tryAcquire(key))
                .withMessageContaining("'quotes'");
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.acquire(key));
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.peek(key));
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.reset(key));
        assertCompletesWithMistake(limiter.tryAcquireAsync(key, 1));
    }

    @Test
    void permitsAreNotNegative() {
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.tryAcquire("alice", -1));
        assertCompletesWithMistake(limiter.tryAcquireAsync("alice", -1));
    }

    @Test
    void disabledLimitLetsEverythingPass() {
        LimitConfiguration off = LimitConfiguration.of("quotes").with(LimitAttributes.ENABLED, false);
        RateLimiter disabled = limiter(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of("quotes", off))
                .apply(TestLimits.tokenBucket("quotes", 3, "3/h")));
        for (int i = 0; i < 5; i++) {
            assertThat(disabled.tryAcquire("alice", 3)).isEqualTo(RateLimitDecision.unlimited(3));
        }
        assertThat(disabled.peek("alice").allowed()).isTrue();
        assertThat(disabled.tryAcquireAsync("alice", 4)
                        .toCompletableFuture()
                        .join()
                        .allowed())
                .isTrue();
    }

    private static void assertCompletesWithMistake(CompletionStage<RateLimitDecision> stage) {
        assertThat(stage.toCompletableFuture())
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalArgumentException.class);
    }

    private static RateLimiter limiter(RateLimit limit) {
        RateLimitGate gate = new RateLimitGate(
                new InMemoryRateLimitStore(new TestClock(), 100),
                new CompositeRateLimitListener(List.of()),
                new RecordingWaiter());
        return new StoreRateLimiter(limit.name(), name -> new EffectiveLimit(limit), gate);
    }
}
