package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.tokenBucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Two instances disagree about a limit's rule and use it in turns: nothing is given for that, and nothing stalls. */
public abstract class AlternatingRulesContract extends StoreContract {

    private static final String ALL = "io.ratelimit.internal.store.contract.RulePairs#all";

    @ParameterizedTest
    @MethodSource(ALL)
    void togetherTheyGiveAtOnceWhatTheLargerWouldAlone(LimitKind first, LimitKind second) {
        RateLimit larger = RulePairs.larger(first);
        RateLimit faster = RulePairs.faster(second);
        int admitted = 0;
        for (int call = 0; call < 40; call++) {
            admitted += take(call % 2 == 0 ? faster : larger, 1).allowed() ? 1 : 0;
        }
        assertThat(admitted).isEqualTo(10);
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void nothingIsRefundedForAChange(LimitKind first, LimitKind second) {
        RateLimit larger = RulePairs.larger(first);
        RateLimit faster = RulePairs.faster(second);
        take(larger, 10);
        for (int change = 0; change < 10; change++) {
            assertThat(take(faster, 1).allowed()).isFalse();
            assertThat(take(larger, 1).allowed()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void rejectedCallSucceedsWhenItWasToldThoughTheOtherRuleIsAskedMeanwhile(LimitKind first, LimitKind second) {
        RateLimit larger = RulePairs.larger(first);
        RateLimit faster = RulePairs.faster(second);
        take(larger, 10);
        long told = TestClock.inMicros(take(faster, 1).retryAfter());
        for (int call = 0; call < 4; call++) {
            clock.advance(told / 5);
            askInVain(larger);
        }
        clock.advance(told - 4 * (told / 5) - 1);
        assertThat(take(faster, 1).retryAfter()).hasNanos(1_000);
        askInVain(larger);
        clock.advance(1);
        askInVain(larger);
        assertThat(take(faster, 1).allowed()).isTrue();
    }

    private void askInVain(RateLimit limit) {
        assertThat(take(limit, limit.capacity() + 1).allowed()).isFalse();
        take(limit, 0);
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void ruleIsAsIfNeverUsedAfterItsOwnMemory(LimitKind first, LimitKind second) {
        RateLimit larger = RulePairs.larger(first);
        RateLimit faster = RulePairs.faster(second);
        for (int call = 0; call < 10; call++) {
            take(larger, 1);
            take(faster, 1);
        }
        assertThat(take(faster, 1).allowed()).isFalse();
        assertThat(take(larger, 1).allowed()).isFalse();
        clock.advance(memory(second, Duration.ofSeconds(20)));
        assertThat(remaining(faster)).isEqualTo(5);
        assertThat(take(faster, 5).allowed()).isTrue();
        assertThat(take(faster, 1).allowed()).isFalse();
    }

    /** A sliding window counts until the end of the next one. */
    private static Duration memory(LimitKind kind, Duration window) {
        return kind == LimitKind.SLIDING_WINDOW ? window.multipliedBy(2) : window;
    }

    /** Each rule alone would allow 10 and 5 at once, and one a second. */
    @Test
    void twoCapacitiesGiveNoMoreThanTheLargerAlone() {
        RateLimit ten = tokenBucket("capacities", 10, "1/s");
        RateLimit five = tokenBucket("capacities", 5, "1/s");
        int admitted = 0;
        for (int tenth = 0; tenth < 600; tenth++) {
            admitted += take(tenth % 3 == 0 ? five : ten, 1).allowed() ? 1 : 0;
            admitted += take(tenth % 3 == 0 ? ten : five, 1).allowed() ? 1 : 0;
            assertThat(admitted).isLessThanOrEqualTo(10 + tenth / 10);
            clock.advance(SECOND / 10);
        }
        assertThat(admitted).isEqualTo(10 + 59);
    }

    /** The permits of the second rule come back half a second after those of the first one. */
    @ParameterizedTest
    @EnumSource
    void rulesThatReturnPermitsAtDifferentTimesGiveNoMoreThanTheFasterAlone(Refill refill) {
        RateLimit ten = tokenBucket("phases", 10, "1/s");
        RateLimit five = RateLimit.named("phases")
                .capacity(5)
                .rate(refill == Refill.INTERVAL ? "2/2s" : "1/s")
                .refill(refill)
                .build();
        assertThat(take(ten, 10).allowed()).isTrue();
        clock.advance(SECOND / 2);
        assertThat(take(five, 1).allowed()).isFalse();
        int admitted = 10;
        for (int tenth = 5; tenth < 600; tenth++) {
            admitted += take(ten, 1).allowed() ? 1 : 0;
            admitted += take(five, 1).allowed() ? 1 : 0;
            assertThat(admitted).isLessThanOrEqualTo(11 + tenth / 10);
            clock.advance(SECOND / 10);
        }
        assertThat(admitted).isGreaterThan(10 + 40);
    }

    @Test
    void aThirdRuleIsGivenNothingEither() {
        RateLimit[] rules = {
            tokenBucket("three", 10, "10/h"),
            tokenBucket("three", 5, "5/h"),
            LimitKind.SLIDING_WINDOW_LOG.limit("three", 8, "8/h")
        };
        int admitted = 0;
        for (int call = 0; call < 60; call++) {
            admitted += take(rules[call % 3], 1).allowed() ? 1 : 0;
        }
        assertThat(admitted).isEqualTo(10);
    }

    /** Each rule alone would allow 10, 10 and 5 at once, and the fastest ten a second. */
    @Test
    void threePacesInTurnsNeitherStallNorGiveMoreThanTheMostGenerousAlone() {
        RateLimit[] rules = {
            tokenBucket("paces", 10, "10/m"), tokenBucket("paces", 10, "10/s"), tokenBucket("paces", 5, "5/s")
        };
        int admitted = 0;
        int late = 0;
        for (int call = 0; call < 1_200; call++) {
            int now = take(rules[call % 3], 1).allowed() ? 1 : 0;
            admitted += now;
            late += call < 1_000 ? 0 : now;
            assertThat(admitted).isLessThanOrEqualTo(10 + call / 2);
            clock.advance(SECOND / 20);
        }
        assertThat(late).isPositive();
    }
}
