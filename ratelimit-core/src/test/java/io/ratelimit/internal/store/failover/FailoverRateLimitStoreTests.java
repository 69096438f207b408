package io.ratelimit.internal.store.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.AsyncStore;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.OwnAlgorithms;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class FailoverRateLimitStoreTests {

    private static final RateLimit LOCAL = TestLimits.failingBy(OnStoreFailure.LOCAL, "local");

    private static final RateLimit ALLOW = TestLimits.failingBy(OnStoreFailure.ALLOW, "allow");

    private static final RateLimit REJECT = TestLimits.failingBy(OnStoreFailure.REJECT, "reject");

    private static final RateLimit THROW = TestLimits.failingBy(OnStoreFailure.THROW, "throw");

    private final StubStore store = new StubStore();

    private final RateLimitStore local = new InMemoryRateLimitStore(new TestClock(), 100);

    private long seconds;

    private final FailoverRateLimitStore failover =
            new FailoverRateLimitStore(store, local, event -> {}, () -> TimeUnit.SECONDS.toNanos(seconds), null);

    private final RateLimitStoreException trouble = new RateLimitStoreException(Reason.TIMEOUT, "no answer", null);

    /** How a store fails that is asked in one way or the other. */
    private enum Way {
        BLOCKING,
        ASYNC,
        ASYNC_AT_ONCE
    }

    private RateLimitStore failing(Way way) {
        if (way == Way.ASYNC_AT_ONCE) {
            store.failAtOnce(trouble);
        } else {
            store.fail(trouble);
        }
        return way == Way.BLOCKING ? failover : new AsyncStore(failover);
    }

    @Test
    void storeDecidesWhileItCan() {
        RateLimitDecision answer = RateLimitDecision.ofMicros(1, 0, 0, 0, 5);
        store.answer(answer);
        assertThat(failover.decide(StoreRequest.of(charges(THROW))).await().decisions())
                .containsExactly(answer);
        assertThat(failover.decide(StoreRequest.of(charges(THROW)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join())
                .containsExactly(answer);
        assertThat(failover.decide(StoreRequest.peek(new Charge(THROW, "key", 1)))
                        .await()
                        .decision())
                .isEqualTo(answer);
    }

    @ParameterizedTest
    @MethodSource
    void outageIsOverWithTheNextAnswerOfAnyKind(Consumer<RateLimitStore> call) {
        try (LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit.store")) {
            store.fail(trouble);
            call.accept(failover);
            assertThat(recorder.levels()).containsExactly("WARNING");
            seconds = 1;
            store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
            call.accept(failover);
            assertThat(recorder.levels()).containsExactly("WARNING", "INFO");
        }
    }

    static List<Consumer<RateLimitStore>> outageIsOverWithTheNextAnswerOfAnyKind() {
        return List.of(
                store -> store.decide(StoreRequest.of(charges(LOCAL))).await().decisions(),
                store -> store.decide(new Charge(LOCAL, "key", 1)).await().decision(),
                store -> store.decide(StoreRequest.of(charges(LOCAL)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join(),
                store -> store.decide(StoreRequest.refundable(charges(LOCAL)))
                        .toStage()
                        .toCompletableFuture()
                        .join());
    }

    @ParameterizedTest
    @EnumSource
    void localLimitsByItself(Way way) {
        RateLimitStore failing = failing(way);
        assertThat(allowed(failing, LOCAL)).containsExactly(true);
        assertThat(allowed(failing, LOCAL)).containsExactly(false);
        assertThat(failing.decide(StoreRequest.peek(new Charge(LOCAL, "key", 1)))
                        .await()
                        .decision()
                        .allowed())
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void allowLetsPass(Way way) {
        RateLimitStore failing = failing(way);
        assertThat(allowed(failing, ALLOW)).containsExactly(true);
        assertThat(allowed(failing, ALLOW)).containsExactly(true);
        assertThat(failing.decide(StoreRequest.peek(new Charge(ALLOW, "key", 1)))
                        .await()
                        .decision()
                        .allowed())
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void rejectRefuses(Way way) {
        RateLimitStore failing = failing(way);
        assertThatExceptionOfType(RateLimitRefusedException.class)
                .isThrownBy(() -> allowed(failing, REJECT))
                .withCause(trouble)
                .satisfies(refused -> assertThat(refused.getReason()).isEqualTo(Reason.TIMEOUT));
        assertThatExceptionOfType(RateLimitRefusedException.class)
                .isThrownBy(() -> failing.decide(StoreRequest.peek(new Charge(REJECT, "key", 1)))
                        .await()
                        .decision());
    }

    @ParameterizedTest
    @EnumSource
    void throwLeavesItToTheApplication(Way way) {
        RateLimitStore failing = failing(way);
        assertThat(catchThrowable(() -> allowed(failing, THROW))).isSameAs(trouble);
        assertThat(catchThrowable(() -> failing.decide(StoreRequest.peek(new Charge(THROW, "key", 1)))
                        .await()
                        .decision()))
                .isSameAs(trouble);
    }

    @ParameterizedTest
    @EnumSource
    void strictestPolicyOfACallCounts(Way way) {
        RateLimitStore failing = failing(way);
        assertThat(catchThrowable(() -> allowed(failing, ALLOW, REJECT, THROW))).isSameAs(trouble);
        assertThat(catchThrowable(() -> allowed(failing, ALLOW, REJECT, LOCAL)))
                .isInstanceOf(RateLimitRefusedException.class);
        assertThat(allowed(failing, ALLOW, LOCAL)).containsExactly(true, true);
        assertThat(allowed(failing, LOCAL, ALLOW)).containsExactly(false, true);
    }

    @ParameterizedTest
    @EnumSource
    void dryRunRefusesNothing(Way way) {
        RateLimitStore failing = failing(way);
        for (OnStoreFailure policy : List.of(OnStoreFailure.REJECT, OnStoreFailure.THROW)) {
            RateLimit trial = TestLimits.dryRun(LOCAL, policy);
            assertThat(allowed(failing, trial, ALLOW)).containsExactly(true, true);
            assertThat(failing.decide(StoreRequest.peek(new Charge(trial, "key", 1)))
                            .await()
                            .decision()
                            .allowed())
                    .isTrue();
        }
    }

    /** The algorithm fails in this JVM, too. */
    @Test
    void dryRunOfAnAlgorithmThatFailsRefusesNothing() {
        RateLimitAlgorithm failing = new OwnAlgorithms.Batches() {

            @Override
            public State take(Rule rule, State state, long now, long permits) {
                throw new IllegalStateException("on purpose");
            }
        };
        RateLimit trial = RateLimit.named("trial")
                .algorithm(failing)
                .rate("5/m")
                .dryRun(true)
                .build();
        FailoverRateLimitStore memory = new FailoverRateLimitStore(local, local);
        assertThat(allowed(memory, trial)).containsExactly(true);
        assertThat(allowed(memory, trial, LOCAL)).containsExactly(true, true);
    }

    @Test
    void callsOfAnOutageAreThoseThatThePolicyDecides() {
        store.failAtOnce(trouble);
        allowed(failover, LOCAL);
        allowed(failover, LOCAL, ALLOW);
        assertThat(catchThrowable(() -> allowed(failover, REJECT))).isNotNull();
        assertThat(calls()).isEqualTo(3);

        Charge charge = new Charge(LOCAL, "key", 1);
        failover.charge(charge).toCompletableFuture().join();
        failover.decide(StoreRequest.peek(charge)).await().decision();
        assertThat(calls()).isEqualTo(3);
        allowed(new AsyncStore(failover), LOCAL);
        assertThat(calls()).isEqualTo(4);
    }

    @Test
    void settlementThatFailsFirstBeginsAnOutageWithoutCalls() {
        store.failAtOnce(trouble);
        failover.charge(new Charge(LOCAL, "key", 1)).toCompletableFuture().join();
        assertThat(calls()).isZero();
    }

    private long calls() {
        return failover.lastFailures().get(0).calls();
    }

    @Test
    void mistakesAreNotTroubleWithTheStore() {
        IllegalArgumentException mistake = new IllegalArgumentException("two charges of one bucket");
        store.fail(mistake);
        assertThat(catchThrowable(() ->
                        failover.decide(StoreRequest.of(charges(LOCAL))).await().decisions()))
                .isSameAs(mistake);
        assertThat(catchThrowable(() -> allowed(new AsyncStore(failover), LOCAL)))
                .isSameAs(mistake);
    }

    /** A store that fails again and again admits no more than one that stays away. */
    @Test
    void nextOutageGoesOnWithTheLocalBuckets() {
        store.fail(trouble);
        assertThat(allowed(failover, LOCAL)).containsExactly(true);
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        assertThat(allowed(failover, LOCAL)).containsExactly(true);
        store.fail(trouble);
        assertThat(allowed(failover, LOCAL)).containsExactly(false);
    }

    static List<BucketChange> changesThatEndABlock() {
        return List.of(BucketChange.UNBLOCK, BucketChange.RESET);
    }

    @ParameterizedTest
    @MethodSource("changesThatEndABlock")
    void blockOfAnOutageEndsWithThatInTheStore(BucketChange change) {
        RateLimit logins = blockedLocally();
        store.answer();
        assertThat(failover.change(logins, "key", change)).isCompleted();
        assertThat(isBlockedLocally(logins)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("changesThatEndABlock")
    void changeThatFailsLeavesTheLocalBucket(BucketChange change) {
        RateLimit logins = blockedLocally();
        assertThat(failover.change(logins, "key", change))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isSameAs(trouble);
        assertThat(isBlockedLocally(logins)).isTrue();
    }

    /** As in memory alone, where an algorithm of the application may fail. */
    @Test
    void permitsInAStoreThatIsAlsoTheLocalOneAreCountedOnce() {
        RateLimit calls = RateLimit.named("calls")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(5)
                .build();
        local.decide(StoreRequest.refundable(charges(calls))).await();
        assertThat(new FailoverRateLimitStore(local, local).heldPermits(calls)).isEqualTo(1);
    }

    /** As there. Another call takes a permit as soon as the bucket is reset. */
    @Test
    void storeThatIsAlsoTheLocalOneIsResetOnce() {
        RateLimit calls = RateLimit.named("calls").rate("5/m").build();
        List<BucketChange> changes = new ArrayList<>();
        RateLimitStore busy = new DelegatingRateLimitStore(local) {

            @Override
            public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
                CompletionStage<BucketStatus> changed = super.change(limit, key, change);
                if (changes.isEmpty()) {
                    local.decide(new Charge(limit, key, 1));
                }
                changes.add(change);
                return changed;
            }
        };
        assertThat(new FailoverRateLimitStore(busy, busy).change(calls, "key", BucketChange.RESET))
                .isCompleted();
        assertThat(changes).containsExactly(BucketChange.RESET);
        assertThat(local.decide(StoreRequest.peek(new Charge(calls, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    private RateLimit blockedLocally() {
        RateLimit logins = RateLimit.named("logins")
                .rate("1/h")
                .blockFor(Duration.ofDays(1))
                .build();
        store.fail(trouble);
        assertThat(allowed(failover, logins)).containsExactly(true);
        assertThat(allowed(failover, logins)).containsExactly(false);
        assertThat(isBlockedLocally(logins)).isTrue();
        return logins;
    }

    private boolean isBlockedLocally(RateLimit limit) {
        return BoundedWait.get(local.change(limit, "key", BucketChange.NONE), Duration.ZERO)
                .isBlocked();
    }

    @Test
    void storeThatDecidedGetsTheRefund() {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        StoreOutcome decided = decideRefundably(LOCAL);
        assertThat(decided.decisions()).containsExactly(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        refund(decided, LOCAL);
        assertThat(store.refunded()).containsExactly(charges(LOCAL));
    }

    @ParameterizedTest
    @EnumSource(names = {"ASYNC", "ASYNC_AT_ONCE"})
    void whatWasDecidedLocallyIsRefundedLocally(Way way) {
        failing(way);
        StoreOutcome decided = decideRefundably(ALLOW, LOCAL);
        assertThat(decided.decisions()).allMatch(RateLimitDecision::allowed);
        assertThat(allowed(failover, LOCAL)).containsExactly(false);
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        refund(decided, ALLOW, LOCAL);
        assertThat(store.refunded()).isEmpty();
        failing(way);
        assertThat(allowed(failover, LOCAL)).containsExactly(true);
    }

    @Test
    void whatWasLetPassHasNothingToRefund() {
        store.fail(trouble);
        StoreOutcome decided = decideRefundably(ALLOW);
        assertThat(decided.decisions()).containsExactly(RateLimitDecision.unlimited(1));
        refund(decided, ALLOW);
        assertThat(store.refunded()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"ASYNC", "ASYNC_AT_ONCE"})
    void policiesHoldForWhatCanBeRefunded(Way way) {
        failing(way);
        assertThat(catchThrowable(() -> decideRefundably(ALLOW, REJECT)))
                .hasCauseInstanceOf(RateLimitRefusedException.class);
        assertThat(catchThrowable(() -> decideRefundably(REJECT, THROW)))
                .cause()
                .isSameAs(trouble);
    }

    @Test
    void storeThatCannotTakeItBackIsNoAffairOfTheCaller() {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        StoreOutcome decided = decideRefundably(LOCAL);
        store.fail(trouble);
        LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit.store");
        try {
            refund(decided, LOCAL);
        } finally {
            recorder.close();
        }
        assertThat(store.refunded()).hasSize(1);
        assertThat(recorder.lines()).singleElement().asString().contains("'local'", "no answer");
    }

    @Test
    void mistakeInRefundingIsTheCallers() {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        StoreOutcome decided = decideRefundably(LOCAL);
        store.fail(new IllegalStateException("a defect"));
        assertThat(catchThrowable(() -> refund(decided, LOCAL))).hasMessageContaining("a defect");
    }

    private StoreOutcome decideRefundably(RateLimit... limits) {
        return Futures.start(() -> failover.decide(StoreRequest.refundable(charges(limits)))
                        .toStage())
                .join();
    }

    private static void refund(StoreOutcome decided, RateLimit... limits) {
        decided.refund().refund(charges(limits)).toCompletableFuture().join();
    }

    private static List<Boolean> allowed(RateLimitStore store, RateLimit... limits) {
        return store.decide(StoreRequest.of(charges(limits))).await().decisions().stream()
                .map(RateLimitDecision::allowed)
                .toList();
    }

    private static List<Charge> charges(RateLimit... limits) {
        return Stream.of(limits).map(limit -> new Charge(limit, "key", 1)).toList();
    }
}
