package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CombinedDecisionTests {

    private static final RateLimitDecision ROOMY = RateLimitDecision.ofMicros(10, 9, 0, 0, 100);

    private static final RateLimitDecision TIGHT = RateLimitDecision.ofMicros(10, 1, 0, 0, 50);

    private static final RateLimitDecision SOON = RateLimitDecision.ofMicros(10, 0, 0, 5, 100);

    private static final RateLimitDecision LATE = RateLimitDecision.ofMicros(10, 3, 0, 500, 50);

    private static final RateLimitDecision NEVER = RateLimitDecision.ofMicros(10, 9, 0, -1, 50);

    @Test
    void fewestPermitsLeftAreTheTightest() {
        assertAllowed(TIGHT, verdict(ROOMY, TIGHT, ROOMY));
    }

    @Test
    void ofTheSameNumberThoseThatTakeLongestToComeBack() {
        RateLimitDecision slower = RateLimitDecision.ofMicros(20, 1, 0, 0, 51);
        assertAllowed(slower, verdict(TIGHT, slower, TIGHT));
        assertAllowed(slower, verdict(slower, TIGHT));
    }

    @Test
    void delayIsTheLongestOfAll() {
        RateLimitDecision delayed = RateLimitDecision.ofMicros(10, 9, 700, 0, 100);
        RateLimitDecision lessDelayed = RateLimitDecision.ofMicros(10, 1, 30, 0, 50);
        CombinedDecision verdict = verdict(delayed, lessDelayed);
        assertAllowed(RateLimitDecision.ofMicros(10, 1, 700, 0, 50), verdict);
        assertThat(verdict.delay())
                .isEqualTo(new CombinedDecision.Delay(verdict.charges().get(0).limit(), Duration.ofNanos(700_000)));
    }

    @Test
    void longestWaitIsTheTightestOfTheRejections() {
        assertRejected(LATE, List.of("limit-2", "limit-0"), verdict(SOON, TIGHT, LATE));
    }

    @Test
    void whatCanNeverSucceedComesFirst() {
        assertRejected(NEVER, List.of("limit-1", "limit-0", "limit-2"), verdict(LATE, NEVER, SOON));
    }

    @Test
    void dryRunHasNoSay() {
        CombinedDecision verdict = new CombinedDecision(
                List.of(trial(0), charge(1), trial(2)),
                List.of(RateLimitDecision.ofMicros(10, 0, 700, 0, 100), ROOMY, NEVER));
        assertAllowed(ROOMY, verdict);
        assertThat(verdict.delay()).isNull();
        assertRejected(
                SOON, List.of("limit-1"), new CombinedDecision(List.of(trial(0), charge(1)), List.of(NEVER, SOON)));
    }

    @Test
    void whereAllAreInDryRunTheTightestIsLetThrough() {
        CombinedDecision verdict = new CombinedDecision(List.of(trial(0), trial(1)), List.of(ROOMY, SOON));
        assertAllowed(RateLimitDecision.ofMicros(10, 0, 0, 0, 100), verdict);
        CombinedDecision delayed =
                new CombinedDecision(List.of(trial(0)), List.of(RateLimitDecision.ofMicros(10, 1, 30, 0, 50)));
        assertAllowed(TIGHT, delayed);
    }

    @Test
    void exceptionSaysWhatTheAnswerSays() {
        CombinedDecision verdict = verdict(SOON, TIGHT, LATE);
        RateLimitExceededException exception = verdict.rejection();
        assertThat(exception.getLimitNames()).isEqualTo(verdict.joint().rejectedBy());
        assertThat(exception.getLimitName()).isEqualTo("limit-2");
        assertThat(exception.getDecision()).isEqualTo(verdict.joint().tightest());
    }

    private static void assertAllowed(RateLimitDecision tightest, CombinedDecision verdict) {
        assertThat(verdict.isRejected()).isFalse();
        assertThat(verdict.joint()).isEqualTo(new JointDecision(tightest, List.of()));
        assertThat(verdict.joint().allowed()).isTrue();
    }

    private static void assertRejected(RateLimitDecision tightest, List<String> by, CombinedDecision verdict) {
        assertThat(verdict.isRejected()).isTrue();
        assertThat(verdict.joint()).isEqualTo(new JointDecision(tightest, by));
        assertThat(verdict.joint().allowed()).isFalse();
    }

    private static CombinedDecision verdict(RateLimitDecision... decisions) {
        List<Charge> charges = IntStream.range(0, decisions.length)
                .mapToObj(CombinedDecisionTests::charge)
                .toList();
        return new CombinedDecision(charges, Stream.of(decisions).toList());
    }

    private static Charge charge(int number) {
        return new Charge(TestLimits.tokenBucket("limit-" + number, 10, "1/s"), "secret", 1);
    }

    private static Charge trial(int number) {
        return new Charge(TestLimits.dryRun(charge(number).limit()), "secret", 1);
    }
}
