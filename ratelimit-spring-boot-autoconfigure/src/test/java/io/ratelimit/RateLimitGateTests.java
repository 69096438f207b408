package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class RateLimitGateTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(10, 9, 0, 0, 100);

    private final Charge quotes = charge(TestLimits.tokenBucket("quotes", 10, "1/s"));

    private final Charge exports = charge(TestLimits.tokenBucket("exports", 10, "1/s"));

    private final Charge reports = charge(TestLimits.tokenBucket("reports", 10, "1/s"));

    private final Charge trial = charge(TestLimits.dryRun(TestLimits.tokenBucket("trial", 10, "1/s")));

    private final StubStore store = new StubStore();

    private final List<String> heard = new ArrayList<>();

    private final RecordingWaiter waiter = new RecordingWaiter();

    private final RateLimitGate gate = new RateLimitGate(
            store, (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome), waiter);

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
        JointDecision rejected = new JointDecision(no(5), List.of("quotes"));
        assertThat(gate.decide(List.of(quotes))).isEqualTo(rejected);
        assertThat(gate.decideAsync(List.of(quotes)).toCompletableFuture().join())
                .isEqualTo(rejected);
        assertThat(heard).containsExactly("quotes REJECTED", "quotes REJECTED");
    }

    @Test
    void dryRunByHandLooksAllowed() {
        store.answer(no(5));
        RateLimitDecision letThrough =
                new RateLimitDecision(true, 10, 0, Duration.ZERO, Duration.ZERO, no(5).resetAfter());
        JointDecision allowed = new JointDecision(letThrough, List.of());
        assertThat(gate.decide(List.of(trial))).isEqualTo(allowed);
        assertThat(gate.peek(trial)).isEqualTo(letThrough);
        assertThat(gate.decideAsync(List.of(trial)).toCompletableFuture().join())
                .isEqualTo(allowed);
        assertThat(heard).containsExactly("trial DRY_RUN_REJECTED", "trial DRY_RUN_REJECTED");
    }

    @Test
    void waitsOnceForExactlyTheDelay() {
        store.answer(yesAfter(1_234_567));
        gate.enter(List.of(quotes));
        assertThat(waiter.delays()).containsExactly(Duration.ofNanos(1_234_567_000));
    }

    @Test
    void waitsOnceForTheLongestOfSeveralDelays() {
        store.answer(yesAfter(5), yesAfter(500), YES);
        gate.enter(List.of(quotes, exports, reports));
        assertThat(waiter.delays()).containsExactly(Duration.ofNanos(500_000));
    }

    @Test
    void waitsForNothing() {
        store.answer(YES, YES);
        gate.enter(List.of(quotes, exports));
        assertThat(waiter.delays()).isEmpty();
    }

    @Test
    void rejectedCallDoesNotWaitForTheLimitsThatWouldHaveAllowedIt() {
        store.answer(yesAfter(500), no(5));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> gate.enter(List.of(quotes, exports)));
        assertThat(waiter.delays()).isEmpty();
    }

    @Test
    void dryRunDelaysNobody() {
        store.answer(yesAfter(500), yesAfter(5));
        gate.enter(List.of(trial, quotes));
        assertThat(waiter.delays()).containsExactly(Duration.ofNanos(5_000));
        store.answer(yesAfter(500));
        gate.enter(List.of(trial));
        assertThat(waiter.delays()).hasSize(1);
    }

    @Test
    void asksAndPeeksWithoutWaiting() {
        store.answer(yesAfter(500));
        JointDecision delayed = new JointDecision(yesAfter(500), List.of());
        assertThat(gate.decide(List.of(quotes))).isEqualTo(delayed);
        assertThat(gate.decideAsync(List.of(quotes)).toCompletableFuture().join())
                .isEqualTo(delayed);
        assertThat(gate.peek(quotes)).isEqualTo(yesAfter(500));
        assertThat(waiter.delays()).isEmpty();
    }

    @Test
    void isHeardOfBeforeTheWait() {
        List<String> heardBefore = new ArrayList<>();
        RateLimitGate gate = new RateLimitGate(
                store, (charge, decision, outcome) -> heard.add("once"), delay -> heardBefore.addAll(heard));
        store.answer(yesAfter(500));
        gate.enter(List.of(quotes));
        assertThat(heardBefore).containsExactly("once");
        assertThat(heard).containsExactly("once");
    }

    @Test
    void whatTheStoreThrowsPasses() {
        store.fail(new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null));
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> gate.enter(List.of(quotes)));
        assertThat(heard).isEmpty();
    }

    static Stream<RateLimitDecision> decisions() {
        return Stream.of(YES, yesAfter(500), no(5), no(-1));
    }

    @ParameterizedTest
    @MethodSource("decisions")
    void oneChargeIsDecidedAsSeveralAre(RateLimitDecision decision) {
        for (Charge charge : List.of(quotes, trial)) {
            Verdict verdict = new Verdict(List.of(charge), List.of(decision));
            store.answer(decision);
            assertThat(gate.decide(charge)).isEqualTo(verdict.joint().tightest());
            assertEnters(verdict, () -> gate.enter(charge));
            assertEnters(verdict, () -> gate.enter(List.of(charge)));
        }
    }

    private void assertEnters(Verdict verdict, Runnable entering) {
        heard.clear();
        waiter.delays().clear();
        Throwable thrown = catchThrowable(entering::run);
        if (verdict.isRejected()) {
            assertThat(thrown).isInstanceOfSatisfying(RateLimitExceededException.class, ex -> {
                assertThat(ex.getLimitNames()).isEqualTo(verdict.joint().rejectedBy());
                assertThat(ex.getDecision()).isEqualTo(verdict.joint().tightest());
                assertThat(ex).hasMessage(verdict.rejection().getMessage());
            });
        } else {
            assertThat(thrown).isNull();
        }
        assertThat(waiter.delays().stream().reduce(Duration.ZERO, Duration::plus))
                .isEqualTo(verdict.delay());
        Charge charge = verdict.charges().get(0);
        String outcome = verdict.decisions().get(0).allowed()
                ? " ALLOWED"
                : charge.limit().dryRun() ? " DRY_RUN_REJECTED" : " REJECTED";
        assertThat(heard).containsExactly(charge.limit().name() + outcome);
    }

    /** How a call enters. */
    private enum Way {
        BLOCKING,
        ASYNC
    }

    private Refund enter(Way way, Entry entry) {
        if (way == Way.BLOCKING) {
            return gate.enter(entry);
        }
        CompletableFuture<Refund> entered = gate.enterAsync(entry).toCompletableFuture();
        try {
            return entered.join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
        }
    }

    private Entry entry(boolean refundable, Charge... charges) {
        return new Entry(
                List.of(charges),
                refundable,
                (all, decisions) -> heard.add(all.size() + " limits said " + decisions.size()));
    }

    @ParameterizedTest
    @EnumSource
    void whatARefundableEntryTookCanBeGivenBack(Way way) {
        store.answer(YES, YES);
        Refund refund = enter(way, entry(true, quotes, exports));
        refund.giveBack(List.of(exports));
        assertThat(store.givenBack()).containsExactly(List.of(exports));
    }

    @ParameterizedTest
    @EnumSource
    void whatAnotherEntryTookCannot(Way way) {
        store.answer(YES);
        assertThat(enter(way, entry(false, quotes))).isSameAs(Refund.NONE);
        Refund.NONE.giveBack(List.of(quotes));
        assertThat(store.givenBack()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void callsListenerSeesOnceWhatAllItsLimitsSaid(Way way) {
        for (boolean refundable : new boolean[] {true, false}) {
            store.answer(YES, no(5), YES);
            assertThatExceptionOfType(RateLimitExceededException.class)
                    .isThrownBy(() -> enter(way, entry(refundable, quotes, exports, trial)))
                    .withMessage("Rate limit 'exports' exceeded");
            assertThat(heard).containsExactly("3 limits said 3", "exports REJECTED", "trial ALLOWED");
            heard.clear();
        }
    }

    @ParameterizedTest
    @EnumSource
    void listenerThatFailsChangesNoDecision(Way way) {
        CallListener failing = (charges, decisions) -> {
            throw new IllegalStateException("a defect of the listener");
        };
        store.answer(YES);
        enter(way, new Entry(List.of(quotes), true, failing));
        store.answer(no(5));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> enter(way, new Entry(List.of(quotes), true, failing)));
        assertThat(heard).containsExactly("quotes ALLOWED", "quotes REJECTED");
    }

    @ParameterizedTest
    @EnumSource
    void entryWaitsOnceForTheLongestDelayThatBinds(Way way) {
        store.answer(yesAfter(5), yesAfter(500), yesAfter(5_000));
        enter(way, entry(true, quotes, exports, trial));
        assertThat(waiter.delays()).containsExactly(Duration.ofNanos(500_000));
    }

    @ParameterizedTest
    @EnumSource
    void whatTheStoreFailsWithPasses(Way way) {
        RateLimitStoreException down = new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null);
        for (boolean refundable : new boolean[] {true, false}) {
            store.fail(down);
            assertThat(catchThrowable(() -> enter(way, entry(refundable, quotes))))
                    .isSameAs(down);
            store.failAtOnce(down);
            assertThat(catchThrowable(() -> enter(way, entry(refundable, quotes))))
                    .isSameAs(down);
        }
        assertThat(heard).isEmpty();
    }

    @Test
    void asyncEntryIsToldOfAndThenWaitsWithoutBlocking() {
        TimerWaiter timer = new TimerWaiter();
        RateLimitGate gate = new RateLimitGate(
                store, (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome), timer);
        store.answer(yesAfter(500));
        CompletableFuture<Refund> entered = gate.enterAsync(entry(true, quotes)).toCompletableFuture();
        assertThat(heard).containsExactly("1 limits said 1", "quotes ALLOWED");
        assertThat(entered).isNotDone();
        timer.over.complete(null);
        assertThat(entered).isCompleted();
        assertThat(heard).hasSize(2);
    }

    @Test
    void nobodyWaitsForACallerWhoIsGone() {
        TimerWaiter timer = new TimerWaiter();
        RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, timer);
        store.answer(yesAfter(500));
        gate.enterAsync(entry(true, quotes)).toCompletableFuture().cancel(false);
        assertThat(timer.over).isCancelled();
        assertThat(store.givenBack()).isEmpty();
    }

    /** Its time is over when the test says so. */
    private static final class TimerWaiter implements Waiter {

        private final CompletableFuture<Void> over = new CompletableFuture<>();

        @Override
        public void await(Duration delay) {
            throw new AssertionError("blocks");
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            return over;
        }
    }

    private static RateLimitDecision yesAfter(long delayMicros) {
        return RateLimitDecision.ofMicros(10, 0, delayMicros, 0, 10_000);
    }

    private static RateLimitDecision no(long retryMicros) {
        return RateLimitDecision.ofMicros(10, 0, 0, retryMicros, 10_000);
    }

    private static Charge charge(RateLimit limit) {
        return new Charge(limit, "secret", 1);
    }
}
