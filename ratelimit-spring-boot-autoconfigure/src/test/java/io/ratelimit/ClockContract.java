package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clocks are set: neither does that refill anything twice, nor does it lock anybody out. */
public abstract class ClockContract extends StoreContract {

    private static RateLimit limit(Algorithm algorithm) {
        return RateLimit.named("clock").algorithm(algorithm).rate("10/m").build();
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "FIXED_WINDOW"})
    void clockThatGoesBackAndForthRefillsNothing(Algorithm algorithm) {
        RateLimit limit = limit(algorithm);
        take(limit, 10);
        for (int i = 0; i < 5; i++) {
            clock.advance(-HOUR);
            assertThat(take(limit, 1).allowed()).isFalse();
            clock.advance(HOUR);
            assertThat(take(limit, 1).allowed()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "FIXED_WINDOW"})
    void clockThatGoesBackLocksNobodyOut(Algorithm algorithm) {
        RateLimit limit = limit(algorithm);
        take(limit, 10);
        clock.advance(-HOUR);
        RateLimitDecision rejected = take(limit, 10);
        assertThat(rejected.resetAfter()).isLessThanOrEqualTo(Duration.ofMinutes(1));
        clock.advance(rejected.resetAfter());
        assertThat(take(limit, 10).allowed()).isTrue();
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "FIXED_WINDOW"})
    void whatIsTakenBehindTimeStaysTakenWhenTheClockIsRightAgain(Algorithm algorithm) {
        RateLimit limit = limit(algorithm);
        take(limit, 10);
        clock.advance(-HOUR);
        take(limit, 1);
        clock.advance(60 * SECOND);
        assertThat(take(limit, 10).allowed()).isTrue();
        clock.advance(HOUR);
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "FIXED_WINDOW"})
    void aDayLaterEverythingIsBackOnce(Algorithm algorithm) {
        RateLimit limit = limit(algorithm);
        take(limit, 10);
        clock.advance(24 * HOUR);
        assertThat(take(limit, 10).allowed()).isTrue();
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    /** The clock is wrong for a while, again and again; the token bucket gives no more than real time brings. */
    @ParameterizedTest
    @EnumSource(names = "TOKEN_BUCKET")
    void noMoreIsAdmittedThanRealTimeBrings(Algorithm algorithm) {
        RateLimit limit = limit(algorithm);
        Random random = TestRandom.create(getClass());
        long start = clock.micros();
        long real = start;
        long wrong = 0;
        long admitted = 0;
        for (int call = 0; call < 2_000; call++) {
            real += random.nextLong(10 * SECOND);
            if (random.nextInt(20) == 0) {
                wrong = wrong == 0 ? -random.nextLong(2 * HOUR) : 0;
            }
            clock.set(real + wrong);
            long permits = random.nextLong(4);
            admitted += take(limit, permits).allowed() ? permits : 0;
            assertThat(admitted).isLessThanOrEqualTo(10 + 10 * (real - start) / (60 * SECOND));
        }
        assertThat(admitted).isGreaterThan(10 * (real - start) / (60 * SECOND) / 2);
    }
}
