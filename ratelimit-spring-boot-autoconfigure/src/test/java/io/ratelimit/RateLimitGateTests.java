package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RateLimitGateTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(10, 9, 0, 0, 100);

    private final Charge quotes = charge(TestLimits.tokenBucket("quotes", 10, "1/s"));

    private final Charge exports = charge(TestLimits.tokenBucket("exports", 10, "1/s"));

    private final Charge reports = charge(TestLimits.tokenBucket("reports", 10, "1/s"));

    private final Charge trial = charge(TestLimits.dryRun(TestLimits.tokenBucket("trial", 10, "1/s")));

    private final StubStore store = new StubStore();

    private final List<String> heard = new ArrayList<>();

    private final RateLimitGate gate = new RateLimitGate(
            store, (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome));

    @Test
    void everyLimitOfACallThatPassesIsHeardOf() {
        store.answer(YES, YES);
        gate.enter(List.of(quotes, trial));
        assertThat(heard).containsExactly("quotes ALLOWED", "trial ALLOWED");
    }

    @Test
    void limitThatWasNotChargedForAnothersRejectionIsNotHeardOf() {
        store.answer(YES, no(5), YES);
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> gate.enter(List.of(quotes, exports, trial)))
                .satisfies(ex -> assertThat(ex.getLimitNames()).containsExactly("exports"))
                .satisfies(ex -> assertThat(ex.getDecision()).isEqualTo(no(5)))
                .withMessage("Rate limit 'exports' exceeded");
        assertThat(heard).containsExactly("exports REJECTED", "trial ALLOWED");
    }

    @Test
    void dryRunIsHeardOfAndLetsPass() {
        store.answer(no(5), YES);
        gate.enter(List.of(trial, quotes));
        assertThat(heard).containsExactly("trial DRY_RUN_REJECTED", "quotes ALLOWED");
    }

    @Test
    void longestWaitIsTheTightest() {
        store.answer(no(5), no(500), no(50), no(5_000));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> gate.enter(List.of(quotes, exports, reports, trial)))
                .satisfies(ex -> assertThat(ex.getLimitNames()).containsExactly("exports", "reports", "quotes"))
                .satisfies(ex -> assertThat(ex.getLimitName()).isEqualTo("exports"))
                .satisfies(ex -> assertThat(ex.getDecision()).isEqualTo(no(500)));
    }

    @Test
    void whatCanNeverSucceedIsTighterStill() {
        store.answer(no(5), no(-1), no(50));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> gate.enter(List.of(quotes, exports, reports)))
                .satisfies(ex -> assertThat(ex.getLimitNames()).containsExactly("exports", "reports", "quotes"))
                .satisfies(ex -> assertThat(ex.getDecision().retryAfter()).isNull());
    }

    @Test
    void oneLimitByHand() {
        store.answer(no(5));
        assertThat(gate.decide(quotes)).isEqualTo(no(5));
        assertThat(gate.decideAsync(quotes).toCompletableFuture().join()).isEqualTo(no(5));
        assertThat(heard).containsExactly("quotes REJECTED", "quotes REJECTED");
    }

    @Test
    void dryRunByHandLooksAllowed() {
        store.answer(no(5));
        RateLimitDecision letThrough =
                new RateLimitDecision(true, 10, 0, Duration.ZERO, Duration.ZERO, no(5).resetAfter());
        assertThat(gate.decide(trial)).isEqualTo(letThrough);
        assertThat(gate.peek(trial)).isEqualTo(letThrough);
        assertThat(gate.decideAsync(trial).toCompletableFuture().join()).isEqualTo(letThrough);
        assertThat(heard).containsExactly("trial DRY_RUN_REJECTED", "trial DRY_RUN_REJECTED");
    }

    @Test
    void whatTheStoreThrowsPasses() {
        store.fail(new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null));
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> gate.enter(List.of(quotes)));
        assertThat(heard).isEmpty();
    }

    private static RateLimitDecision no(long retryMicros) {
        return RateLimitDecision.ofMicros(10, 0, 0, retryMicros, 10_000);
    }

    private static Charge charge(RateLimit limit) {
        return new Charge(limit, "secret", 1);
    }
}
