package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.LimitKind.LEAKY_BUCKET_WITH_WAIT;
import static io.ratelimit.testing.LimitKind.TOKEN_BUCKET_WITH_WAIT;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits that are not there yet are reserved ahead, no longer than maxWait. */
public abstract class ReservationContract extends StoreContract {

    private final RateLimit bucket = TOKEN_BUCKET_WITH_WAIT.limit("bucket", 2, "1/s", ofSeconds(3));

    private final RateLimit leaky = LEAKY_BUCKET_WITH_WAIT.limit("leaky", 2, "1/s", ofSeconds(3));

    @Test
    void tokenBucketWaitsUntilThePermitsAreThere() {
        assertThat(take(bucket, 2)).isEqualTo(waiting(ZERO, ofSeconds(2)));
        assertThat(take(bucket, 1)).isEqualTo(waiting(ofSeconds(1), ofSeconds(3)));
        assertThat(take(bucket, 1)).isEqualTo(waiting(ofSeconds(2), ofSeconds(4)));
        assertThat(take(bucket, 2)).isEqualTo(rejected(2, 0, ofSeconds(1), ofSeconds(4)));
        assertThat(take(bucket, 1)).isEqualTo(waiting(ofSeconds(3), ofSeconds(5)));
        assertThat(take(bucket, 1)).isEqualTo(rejected(2, 0, ofSeconds(1), ofSeconds(5)));
        assertThat(take(bucket, 0)).isEqualTo(waiting(ZERO, ofSeconds(5)));
        clock.advance(ofMillis(3_500));
        assertThat(take(bucket, 2)).isEqualTo(waiting(ofMillis(1_500), ofMillis(3_500)));
    }

    @Test
    void leakyBucketWaitsUntilWhatCameBeforeHasDrained() {
        assertThat(take(leaky, 2)).isEqualTo(waiting(ZERO, ofSeconds(2)));
        assertThat(take(leaky, 1)).isEqualTo(waiting(ofSeconds(2), ofSeconds(3)));
        assertThat(take(leaky, 2)).isEqualTo(waiting(ofSeconds(3), ofSeconds(5)));
        assertThat(take(leaky, 1)).isEqualTo(rejected(2, 0, ofSeconds(1), ofSeconds(5)));
        clock.advance(ofMillis(1_500));
        assertThat(take(leaky, 1)).isEqualTo(waiting(ofMillis(3_500), ofMillis(4_500)));
    }

    @Test
    void leakyBucketAdmitsWhatTheTokenBucketDoes() {
        Random random = TestRandom.create(getClass());
        for (int call = 0; call < 500; call++) {
            clock.advance(random.nextLong(3 * SECOND));
            long permits = random.nextLong(4);
            RateLimitDecision there = take(bucket, permits);
            RateLimitDecision spaced = take(leaky, permits);
            assertThat(new RateLimitDecision(
                            spaced.allowed(),
                            2,
                            spaced.remaining(),
                            there.delay(),
                            spaced.retryAfter(),
                            spaced.resetAfter()))
                    .isEqualTo(there);
            assertThat(spaced.delay()).isGreaterThanOrEqualTo(there.delay());
        }
    }

    @Test
    void maxWaitIsExact() {
        // A permit takes 2,333,333 1/3 microseconds.
        RateLimit tooShort = TOKEN_BUCKET_WITH_WAIT.limit("short", 1, "3/7s", ofNanos(2_333_333_000L));
        take(tooShort, 1);
        assertThat(take(tooShort, 1).retryAfter()).hasNanos(1_000);
        RateLimit enough = TOKEN_BUCKET_WITH_WAIT.limit("enough", 1, "3/7s", ofNanos(2_333_334_000L));
        take(enough, 1);
        assertThat(take(enough, 1).delay()).isEqualTo(ofNanos(2_333_334_000L));
        // Two permits take 4,666,666 2/3: that minus the wait is between these two moments.
        clock.advance(2_333_332);
        assertThat(take(enough, 1).retryAfter()).hasNanos(1_000);
        clock.advance(1);
        assertThat(take(enough, 1).delay()).isEqualTo(ofNanos(2_333_334_000L));
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET_WITH_WAIT", "LEAKY_BUCKET_WITH_WAIT"})
    void moreThanTheCapacityIsNeverReserved(LimitKind kind) {
        RateLimit limit = kind.limit("patient", 2, "1/s", Duration.ofDays(1));
        assertThat(take(limit, 3)).isEqualTo(rejected(2, 2, null, ZERO));
        assertThat(take(limit, 2).allowed()).isTrue();
        assertThat(take(limit, 2).delay()).isEqualTo(ofSeconds(2));
    }

    @Test
    void peekTellsTheDelayAndReservesNothing() {
        take(bucket, 2);
        assertThat(peek(bucket, 1)).isEqualTo(waiting(ofSeconds(1), ofSeconds(2)));
        assertThat(peek(bucket, 1)).isEqualTo(waiting(ofSeconds(1), ofSeconds(2)));
        assertThat(peek(leaky, 1)).isEqualTo(allowed(2, 2, ZERO));
        take(leaky, 1);
        assertThat(peek(leaky, 1)).isEqualTo(new RateLimitDecision(true, 2, 1, ofSeconds(1), ZERO, ofSeconds(1)));
    }

    @Test
    void delayIsToldThoughAnotherLimitRejectsAndReservesNothing() {
        RateLimit closed = TestLimits.fixedWindow("closed", 1, "1/h");
        take(closed, 1);
        take(bucket, 2);
        List<RateLimitDecision> decisions = takeOneOfEach(bucket, closed);
        assertThat(decisions.get(0)).isEqualTo(waiting(ofSeconds(1), ofSeconds(2)));
        assertThat(decisions.get(1).allowed()).isFalse();
        assertThat(take(bucket, 1).delay()).isEqualTo(ofSeconds(1));
    }

    private static RateLimitDecision waiting(Duration delay, Duration reset) {
        return new RateLimitDecision(true, 2, 0, delay, ZERO, reset);
    }
}
