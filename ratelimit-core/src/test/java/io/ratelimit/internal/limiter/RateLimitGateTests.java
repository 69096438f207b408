package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.Scope;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

    /** Of the limits of a refused call, those whose policy refuses it. */
    @Test
    void refusalIsHeardOfByTheLimitsThatRefuse() {
        List<String> refused = new ArrayList<>();
        RateLimitGate listening = new RateLimitGate(
                store,
                new RateLimitListener() {
                    @Override
                    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
                        throw new AssertionError();
                    }

                    @Override
                    public void onRefusal(Charge charge, RateLimitStoreException failure) {
                        refused.add(charge.limit().name() + " " + failure.getMessage());
                    }
                },
                waiter);
        Charge strict = charge(refusing("strict").build());
        Charge watched = charge(refusing("watched").dryRun(true).build());
        Charge own = charge(refusing("own").scope(Scope.INSTANCE).build());
        List<Charge> charges = List.of(quotes, strict, watched, own);
        store.fail(new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null));

        assertThat(catchThrowable(() -> listening.enter(charges))).isNotNull();
        assertThat(catchThrowable(() -> listening.enter(strict))).isNotNull();
        assertThat(catchThrowable(() -> listening.decide(charges))).isNotNull();
        assertThat(catchThrowable(() -> listening.decide(strict))).isNotNull();
        assertThat(listening.enterAsync(charges)).isCompletedExceptionally();
        assertThat(listening.decideAsync(charges)).isCompletedExceptionally();
        assertThat(refused).hasSize(6).containsOnly("strict down");

        // A store of the application knows no policies.
        assertThat(catchThrowable(() -> listening.enter(List.of(quotes, own)))).isNotNull();
        assertThat(refused.subList(6, 8)).containsExactly("quotes down", "own down");
    }

    /** An Error passes the composite of listeners. */
    @Test
    void errorOfAListenerDoesNotKeepARefusedCallWaiting() {
        RateLimitGate listening = new RateLimitGate(
                store,
                new RateLimitListener() {
                    @Override
                    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {}

                    @Override
                    public void onRefusal(Charge charge, RateLimitStoreException failure) {
                        throw new NoClassDefFoundError("of a meter");
                    }
                },
                waiter);
        RateLimitStoreException down = new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null);
        store.fail(down);
        Charge held = charge(TestLimits.concurrency("held", 5));
        for (List<Charge> charges : List.of(List.of(quotes), List.of(quotes, held), List.of(held))) {
            assertThat(listening
                            .enterAsync(new AcquireRequest(charges, false, CallListener.NONE))
                            .toCompletableFuture())
                    .isCompletedExceptionally()
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCause(down);
        }
    }

    private static RateLimitBuilder refusing(String name) {
        return RateLimit.named(name).rate("1/s").onStoreFailure(OnStoreFailure.REJECT);
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
            CombinedDecision verdict = new CombinedDecision(List.of(charge), List.of(decision));
            store.answer(decision);
            assertThat(gate.decide(charge)).isEqualTo(verdict.joint().tightest());
            assertEnters(verdict, () -> gate.enter(charge));
            assertEnters(verdict, () -> gate.enter(List.of(charge)));
        }
    }

    private void assertEnters(CombinedDecision verdict, Runnable entering) {
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
                .isEqualTo(
                        verdict.delay() == null
                                ? Duration.ZERO
                                : verdict.delay().time());
        Charge charge = verdict.charges().get(0);
        String outcome = verdict.decisions().get(0).allowed()
                ? " ALLOWED"
                : charge.limit().dryRun() ? " DRY_RUN_REJECTED" : " REJECTED";
        assertThat(heard).containsExactly(charge.limit().name() + outcome);
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
