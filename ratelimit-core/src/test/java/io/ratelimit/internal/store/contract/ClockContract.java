package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clocks are set: neither does that refill anything twice, nor does it lock anybody out. */
@BothTiers
public abstract class ClockContract extends StoreContract {

    private static final Duration WINDOW = Duration.ofMinutes(1);

    private static RateLimit limit(LimitKind kind) {
        return kind.limit("clock", 10, "10/m");
    }

    @ParameterizedTest
    @EnumSource
    void clockThatGoesBackAndForthRefillsNothing(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        for (int i = 0; i < 5; i++) {
            clock.advance(-HOUR);
            assertThat(take(limit, 1).allowed()).isFalse();
            clock.advance(HOUR);
            assertThat(take(limit, 1).allowed()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void clockThatGoesADayAheadRefillsOnceAndNotAgainOnItsWayBackAndForth(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        clock.advance(24 * HOUR);
        assertThat(take(limit, 10).allowed()).isTrue();
        assertThat(take(limit, 1).allowed()).isFalse();
        for (long way : new long[] {-HOUR, HOUR, -24 * HOUR, 24 * HOUR}) {
            clock.advance(way);
            assertThat(take(limit, 1).allowed()).isFalse();
        }
    }

    /** The call waits as long as it would have, or a window longer, where only the window's beginning is remembered. */
    @ParameterizedTest
    @EnumSource
    void clockThatGoesBackLocksNobodyOut(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        clock.advance(SECOND);
        Duration retryAfter = take(limit, 1).retryAfter();
        clock.advance(-HOUR);
        RateLimitDecision rejected = take(limit, 1);
        assertThat(rejected.retryAfter()).isBetween(retryAfter, retryAfter.plus(WINDOW));
        clock.advance(rejected.retryAfter());
        assertThat(take(limit, 1).allowed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void everythingIsBackThoughTheClockIsBehind(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        clock.advance(-HOUR);
        Duration resetAfter = take(limit, 10).resetAfter();
        assertThat(resetAfter).isLessThanOrEqualTo(longestMemory(kind));
        clock.advance(resetAfter);
        assertThat(take(limit, 10).allowed()).isTrue();
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    /** A sliding window counts until the end of the next one. */
    private static Duration longestMemory(LimitKind kind) {
        return kind == LimitKind.SLIDING_WINDOW ? WINDOW.multipliedBy(2) : WINDOW;
    }

    @ParameterizedTest
    @EnumSource
    void whatIsTakenBehindTimeStaysTakenWhenTheClockIsRightAgain(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        clock.advance(-HOUR);
        clock.advance(take(limit, 1).resetAfter());
        assertThat(take(limit, 10).allowed()).isTrue();
        clock.advance(HOUR);
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void aDayLaterEverythingIsBackOnce(LimitKind kind) {
        RateLimit limit = limit(kind);
        take(limit, 10);
        clock.advance(24 * HOUR);
        assertThat(take(limit, 10).allowed()).isTrue();
        assertThat(take(limit, 1).allowed()).isFalse();
    }

    /** The window is longer than the clock is behind. */
    @ParameterizedTest
    @EnumSource
    void whoWaitsAsLongAsToldIsAdmittedThoughTheClockStaysBehind(LimitKind kind) {
        RateLimit limit = kind.limit("patient", 10, "10/2h");
        take(limit, 10);
        clock.advance(-HOUR);
        RateLimitDecision told = take(limit, 10);
        assertThat(told.allowed()).isFalse();
        clock.advance(told.retryAfter());
        assertThat(take(limit, 10).allowed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void whoAsksEveryMinuteIsAdmittedAsSoonThoughTheClockStaysBehind(LimitKind kind) {
        RateLimit limit = kind.limit("impatient", 10, "10/2h");
        take(limit, 10);
        clock.advance(-HOUR);
        Duration told = take(limit, 10).retryAfter();
        int minutes = 0;
        while (!take(limit, 10).allowed()) {
            clock.advance(60 * SECOND);
            minutes++;
            assertThat(Duration.ofMinutes(minutes)).isLessThanOrEqualTo(told.plusMinutes(1));
        }
        assertThat(Duration.ofMinutes(minutes)).isBetween(told, told.plusMinutes(1));
    }

    @ParameterizedTest
    @EnumSource
    void clockThatIsSoonRightAgainGivesNothingForTheTimeBetween(LimitKind kind) {
        RateLimit limit = kind.limit("between", 10, "10/2h");
        take(limit, 10);
        clock.advance(-HOUR);
        Duration told = take(limit, 10).retryAfter();
        clock.advance(HOUR + SECOND);
        // A sliding window remembers no later time than when it began: 0.12 s before the first call.
        assertThat(take(limit, 10).retryAfter()).isBetween(told.minusSeconds(2), told.minusSeconds(1));
    }

    /**
     * The clock is wrong for a while, again and again. A bucket's own time is never ahead of real time, so each rule's
     * most for that time holds; and what is lost to the bucket at each step back is less than a window. It goes wrong
     * only while permits are in use: a bucket that is as if never used remembers no time.
     */
    @ParameterizedTest
    @EnumSource
    void noMoreIsAdmittedThanRealTimeBringsAndNotMuchLess(LimitKind kind) {
        RateLimit limit = limit(kind);
        Random random = TestRandom.create(getClass());
        long start = clock.micros();
        long real = start;
        long wrong = 0;
        long admitted = take(limit, 10).allowed() ? 10 : 0;
        boolean inUse = true;
        for (int call = 0; call < TestRandom.cases(10_000); call++) {
            real += random.nextLong(10 * SECOND);
            if (random.nextInt(20) == 0) {
                wrong = wrong == 0 && inUse ? -random.nextLong(2 * HOUR) : 0;
            }
            clock.set(real + wrong);
            long permits = random.nextLong(4);
            RateLimitDecision decision = take(limit, permits);
            admitted += decision.allowed() ? permits : 0;
            inUse = !decision.resetAfter().isZero();
            assertThat(admitted).isLessThanOrEqualTo(most(kind, real - start));
            assertThat(decision.retryAfter()).isLessThanOrEqualTo(longestMemory(kind));
        }
        assertThat(admitted).isGreaterThan(10 * (real - start) / (60 * SECOND) / 3);
    }

    private static long most(LimitKind kind, long elapsed) {
        long second = kind.waits() ? SECOND : 0;
        return switch (kind) {
            case TOKEN_BUCKET, TOKEN_BUCKET_WITH_WAIT, LEAKY_BUCKET, LEAKY_BUCKET_WITH_WAIT ->
                10 + 10 * (elapsed + second) / (60 * SECOND);
            case TOKEN_BUCKET_BY_INTERVALS, FIXED_WINDOW, SLIDING_WINDOW_LOG -> 10 + 10 * (elapsed / (60 * SECOND));
            case SLIDING_WINDOW -> 20 + 10 * (elapsed / (60 * SECOND));
        };
    }
}
