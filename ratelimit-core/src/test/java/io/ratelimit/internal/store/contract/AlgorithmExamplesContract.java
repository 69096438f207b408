package io.ratelimit.internal.store.contract;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Each algorithm at 20 permits, 10 a second, by numbers that anybody can check by hand. */
public abstract class AlgorithmExamplesContract extends StoreContract {

    private static RateLimit limit(LimitKind kind) {
        return kind.limit("example", 20, "10/s");
    }

    @Test
    void leakyBucketSpacesCallsOut() {
        RateLimit leaky = limit(LimitKind.LEAKY_BUCKET);
        assertThat(take(leaky, 5)).isEqualTo(allowed(20, 15, ofMillis(500)));
        assertThat(take(leaky, 1)).isEqualTo(delayed(14, ofMillis(500), ofMillis(600)));
        clock.advance(ofMillis(250));
        assertThat(take(leaky, 1)).isEqualTo(delayed(15, ofMillis(350), ofMillis(450)));
        assertThat(take(leaky, 0)).isEqualTo(allowed(20, 15, ofMillis(450)));
        assertThat(take(leaky, 20)).isEqualTo(rejected(20, 15, ofMillis(450), ofMillis(450)));
        clock.advance(ofMillis(450));
        assertThat(take(leaky, 20)).isEqualTo(allowed(20, 0, ofSeconds(2)));
    }

    @Test
    void intervalsBringTheirTokensAtOnce() {
        RateLimit intervals = limit(LimitKind.TOKEN_BUCKET_BY_INTERVALS);
        assertThat(take(intervals, 15)).isEqualTo(allowed(20, 5, ofSeconds(2)));
        clock.advance(SECOND - 1);
        assertThat(take(intervals, 6)).isEqualTo(rejected(20, 5, ofNanos(1_000), ofNanos(1_000_001_000)));
        clock.advance(1);
        assertThat(take(intervals, 6)).isEqualTo(allowed(20, 9, ofSeconds(2)));
        assertThat(take(intervals, 20)).isEqualTo(rejected(20, 9, ofSeconds(2), ofSeconds(2)));
        clock.advance(2 * SECOND);
        assertThat(remaining(intervals)).isEqualTo(20);
    }

    @Test
    void intervalStartsWithTheCallThatTakesFromAFullBucket() {
        RateLimit intervals = limit(LimitKind.TOKEN_BUCKET_BY_INTERVALS);
        take(intervals, 1);
        clock.advance(ofMillis(1_500));
        take(intervals, 0);
        clock.advance(ofMillis(200));
        assertThat(take(intervals, 1)).isEqualTo(allowed(20, 19, ofSeconds(1)));
        clock.advance(ofMillis(999));
        assertThat(take(intervals, 1)).isEqualTo(allowed(20, 18, ofMillis(1)));
    }

    @Test
    void intervalIsAsItIsWritten() {
        RateLimit intervals = LimitKind.TOKEN_BUCKET_BY_INTERVALS.limit("written", 20, "20/2s");
        take(intervals, 20);
        clock.advance(2 * SECOND - 1);
        assertThat(remaining(intervals)).isZero();
        clock.advance(1);
        assertThat(remaining(intervals)).isEqualTo(20);
    }

    @Test
    void slidingWindowWeighsThePreviousOneByWhatIsInView() {
        RateLimit sliding = limit(LimitKind.SLIDING_WINDOW);
        clock.set(TestClock.TODAY / (2 * SECOND) * (2 * SECOND) + SECOND);
        assertThat(take(sliding, 20)).isEqualTo(allowed(20, 0, ofSeconds(3)));
        // In a second this window is the previous one, and another tenth of a second later 19/20 of it are in view.
        assertThat(take(sliding, 1)).isEqualTo(rejected(20, 0, ofMillis(1_100), ofSeconds(3)));
        clock.advance(ofMillis(1_500));
        // 20 × 3/4 + 5 = 20
        assertThat(take(sliding, 5)).isEqualTo(allowed(20, 0, ofMillis(3_500)));
        assertThat(take(sliding, 1)).isEqualTo(rejected(20, 0, ofMillis(100), ofMillis(3_500)));
        clock.advance(ofMillis(1_499));
        // 20 × 1/2000 + 5, rounded down
        assertThat(remaining(sliding)).isEqualTo(14);
        clock.advance(ofMillis(1));
        assertThat(remaining(sliding)).isEqualTo(15);
    }

    @Test
    void slidingWindowForgetsThePreviousOneAtTheEndOfThis() {
        RateLimit sliding = limit(LimitKind.SLIDING_WINDOW);
        clock.set(TestClock.TODAY / (2 * SECOND) * (2 * SECOND));
        take(sliding, 20);
        clock.advance(3 * SECOND);
        assertThat(peek(sliding, 0)).isEqualTo(allowed(20, 10, ofSeconds(1)));
        clock.advance(SECOND);
        assertThat(peek(sliding, 20)).isEqualTo(allowed(20, 20, Duration.ZERO));
    }

    @Test
    void logIsExact() {
        RateLimit log = limit(LimitKind.SLIDING_WINDOW_LOG);
        take(log, 12);
        clock.advance(ofMillis(500));
        assertThat(take(log, 8)).isEqualTo(allowed(20, 0, ofSeconds(2)));
        assertThat(take(log, 12)).isEqualTo(rejected(20, 0, ofMillis(1_500), ofSeconds(2)));
        assertThat(take(log, 13)).isEqualTo(rejected(20, 0, ofSeconds(2), ofSeconds(2)));
        clock.advance(1_500_000 - 1);
        assertThat(take(log, 1)).isEqualTo(rejected(20, 0, ofNanos(1_000), ofNanos(500_001_000)));
        clock.advance(1);
        assertThat(take(log, 12)).isEqualTo(allowed(20, 0, ofSeconds(2)));
    }

    private static RateLimitDecision delayed(long remaining, Duration delay, Duration reset) {
        return new RateLimitDecision(true, 20, remaining, delay, Duration.ZERO, reset);
    }
}
