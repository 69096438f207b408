package io.ratelimit.internal.limiter;

import static io.ratelimit.internal.limiter.WaitingCalls.assertFails;
import static io.ratelimit.internal.limiter.WaitingCalls.entered;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls wait for permits of a concurrency limit, in the order of their arrival. */
@Timeout(180)
class PermitQueueTests {

    private static final Duration POLL = Duration.ofSeconds(1);

    private final RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000);

    private final Times times = new Times();

    private final List<String> heard = new CopyOnWriteArrayList<>();

    private final RateLimitGate gate = new RateLimitGate(store, listener(), times);

    private final RateLimit limit = WaitingCalls.limit("exports", 2);

    private RateLimitListener listener() {
        return (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome);
    }

    private CompletableFuture<Settlement> enter(long permits) {
        return enter(new Charge(limit, "alice", permits));
    }

    private CompletableFuture<Settlement> enter(Charge... charges) {
        return WaitingCalls.enter(gate, charges);
    }

    private long free() {
        return WaitingCalls.free(store, limit);
    }

    @Test
    void firstToComeIsTheFirstToGetWhatIsReleased() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> large = enter(2);
        CompletableFuture<Settlement> small = enter(1);
        assertThat(large).isNotDone();
        assertThat(small).isNotDone();
        both.release();
        Settlement next = entered(large);
        assertThat(small).isNotDone();
        next.release();
        entered(small).release();
        assertThat(free()).isEqualTo(2);
        assertThat(heard).containsOnly("exports ALLOWED").hasSize(3);
    }

    @Test
    void laterCallDoesNotOvertakeOneThatWaitsForMore() throws Exception {
        Settlement one = entered(enter(1));
        CompletableFuture<Settlement> large = enter(2);
        CompletableFuture<Settlement> small = enter(1);
        assertThat(small).isNotDone();
        one.release();
        Settlement next = entered(large);
        assertThat(small).isNotDone();
        next.release();
        entered(small);
    }

    @Test
    void oneReleaseServesAllThatFit() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> first = enter(1);
        CompletableFuture<Settlement> second = enter(1);
        both.release();
        entered(first);
        entered(second);
        assertThat(free()).isZero();
    }

    @Test
    void callIsRejectedWhenItsTimeIsOver() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> first = enter(1);
        CompletableFuture<Settlement> second = enter(1);
        assertThat(times.delays).containsOnly(Duration.ofSeconds(5), POLL).hasSize(3);
        times.pass();
        assertThat(first)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitExceededException.class);
        assertThat(second)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitExceededException.class);
        both.release();
        assertThat(free()).isEqualTo(2);
        assertThat(heard).containsExactly("exports ALLOWED", "exports REJECTED", "exports REJECTED");
    }

    @Test
    void cancelledCallLeavesItsPlace() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> large = enter(2);
        CompletableFuture<Settlement> small = enter(1);
        large.cancel(false);
        both.release();
        entered(small);
        assertThat(free()).isEqualTo(1);
    }

    @Test
    void callThatLacksMoreThanPermitsIsRejectedAtOnce() throws Exception {
        RateLimit rate = TestLimits.fixedWindow("rate", 1, "1/h");
        Charge byRate = new Charge(rate, "alice", 1);
        entered(enter(byRate));
        CompletableFuture<Settlement> call = enter(byRate, new Charge(limit, "alice", 1));
        assertThat(call).isCompletedExceptionally();
        assertThat(enter(3)).isCompletedExceptionally();
        assertThat(free()).isEqualTo(2);
    }

    /** Such as one for each user, and one for all. Calls of other users wait in other queues. */
    @Test
    void releaseOfAnyOfTheLimitsWakesCallsInTheirOrder() throws Exception {
        Charge all = new Charge(limit, "all", 1);
        RateLimit own = WaitingCalls.limit("own", 1);
        Settlement first = entered(enter(new Charge(own, "alice", 1), all));
        Settlement second = entered(enter(new Charge(own, "bob", 1), all));
        CompletableFuture<Settlement> sameUser = enter(new Charge(own, "alice", 1), all);
        CompletableFuture<Settlement> carol = enter(new Charge(own, "carol", 1), all);
        CompletableFuture<Settlement> dave = enter(new Charge(own, "dave", 1), all);
        CompletableFuture<Settlement> erin = enter(new Charge(own, "erin", 1), all);
        assertThat(dave).isNotDone();
        first.release();
        Settlement third = entered(sameUser);
        assertThat(carol).isNotDone();
        second.release();
        Settlement fourth = entered(carol);
        third.release();
        Settlement fifth = entered(dave);
        assertThat(erin).isNotDone();
        gate.reset(new Charge(limit, "all", 0));
        entered(erin).release();
        fourth.release();
        fifth.release();
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "all", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
    }

    /** One release serves as many as it has permits. */
    @Test
    void releaseOfSeveralPermitsWakesAsManyCalls() throws Exception {
        RateLimit own = WaitingCalls.limit("own", 1);
        Settlement both = entered(enter(new Charge(limit, "all", 2)));
        List<CompletableFuture<Settlement>> calls = Stream.of("alice", "bob", "carol")
                .map(user -> enter(new Charge(own, user, 1), new Charge(limit, "all", 1)))
                .toList();
        both.release();
        Settlement next = entered(calls.get(0));
        entered(calls.get(1));
        assertThat(calls.get(2)).isNotDone();
        next.release();
        entered(calls.get(2));
    }

    @Test
    void rateIsChargedOnceAndOnlyWithThePermits() throws Exception {
        RateLimit rate = TestLimits.fixedWindow("rate", 5, "5/h");
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(rate, "alice", 1), new Charge(limit, "alice", 1));
        assertThat(store.decide(StoreRequest.peek(new Charge(rate, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(5);
        both.release();
        entered(call);
        assertThat(store.decide(StoreRequest.peek(new Charge(rate, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    @Test
    void trialIsHeldOnceHoweverOftenTheCallTries() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.concurrency("trial", 5));
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(trial, "alice", 1), new Charge(limit, "alice", 2));
        CompletableFuture<Settlement> other = enter(1);
        both.release();
        Settlement refund = entered(call);
        assertThat(store.decide(StoreRequest.peek(new Charge(trial, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
        refund.release();
        assertThat(store.decide(StoreRequest.peek(new Charge(trial, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(5);
        entered(other);
    }

    /** What it had given to a call that waits would be missing for others, and could block their key. */
    @Test
    void callThatWaitsTakesNothingOfALimitInDryRun() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.fixedWindow("trial", 1, "1/h"));
        AtomicLong asked = new AtomicLong();
        RateLimitGate counting = gate(request -> asked.addAndGet(request.charges().stream()
                .filter(charge -> charge.limit() == trial)
                .count()));
        Settlement both = entered(enter(2));
        AcquireRequest request = new AcquireRequest(
                List.of(new Charge(trial, "alice", 1), new Charge(limit, "alice", 1)), false, CallListener.NONE);
        CompletableFuture<Settlement> call = counting.enterAsync(request).toCompletableFuture();
        counting.permitsReleased(limit.id(), KeyDigest.of("alice"));
        assertThat(asked).hasValue(0);
        both.release();
        counting.permitsReleased(limit.id(), KeyDigest.of("alice"));
        entered(call);
        assertThat(asked).hasValue(1);
        assertThat(heard).containsExactly("exports ALLOWED", "trial ALLOWED", "exports ALLOWED");
        assertThat(store.decide(StoreRequest.peek(new Charge(trial, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isZero();
    }

    @Test
    void callGetsInThoughALimitInDryRunCannotBeDecided() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.fixedWindow("trial", 1, "1/h"));
        RateLimitGate failing = gate(request -> {
            if (request.first().limit() == trial) {
                throw new OutOfMemoryError("of the test");
            }
        });
        AcquireRequest request = new AcquireRequest(
                List.of(new Charge(limit, "alice", 2), new Charge(trial, "alice", 1)), false, CallListener.NONE);
        Settlement held = entered(failing.enterAsync(request).toCompletableFuture());
        assertThat(free()).isZero();
        held.release();
        assertThat(free()).isEqualTo(2);
    }

    /** @param before each decision */
    private RateLimitGate gate(Consumer<StoreRequest> before) {
        RateLimitStore observed = new DelegatingRateLimitStore(store) {

            @Override
            public StoreAnswer decide(StoreRequest request) {
                before.accept(request);
                return super.decide(request);
            }
        };
        return new RateLimitGate(observed, listener(), times);
    }

    /** It would lack what it has taken itself, which can block its key. */
    @Test
    void callIsNotDecidedAgainWhileALimitInDryRunIs() throws Exception {
        RateLimit rate = RateLimit.named("rate")
                .rate("1/h")
                .blockFor(Duration.ofHours(1))
                .build();
        RateLimit trial = TestLimits.dryRun(TestLimits.fixedWindow("trial", 1, "1/h"));
        CompletableFuture<Void> answer = new CompletableFuture<>();
        RateLimitStore late = new DelegatingRateLimitStore(store) {

            @Override
            public StoreAnswer decide(StoreRequest request) {
                CompletableFuture<Void> before =
                        request.first().limit() == trial ? answer : CompletableFuture.completedFuture(null);
                return StoreAnswer.of(
                        () -> before.thenCompose(now -> super.decide(request).toStage()));
            }
        };
        Settlement both = entered(enter(2));
        RateLimitGate held = new RateLimitGate(late, listener(), times);
        AcquireRequest request = new AcquireRequest(
                List.of(new Charge(rate, "alice", 1), new Charge(limit, "alice", 1), new Charge(trial, "alice", 1)),
                false,
                CallListener.NONE);
        CompletableFuture<Settlement> call = held.enterAsync(request).toCompletableFuture();
        both.release();
        held.permitsReleased(limit.id(), KeyDigest.of("alice"));
        times.pass(limit.maxWait());
        answer.complete(null);
        entered(call).release();
        assertThat(store.change(rate, "alice", BucketChange.NONE)
                        .toCompletableFuture()
                        .join()
                        .isBlocked())
                .isFalse();
    }

    @Test
    void callWhosePresentLimitCannotBeFoundFailsAndKeepsNoOtherWaiting() {
        PermitQueueRegistry queues = new PermitQueueRegistry(store, times, Runnable::run);
        StoreRequest request = StoreRequest.refundable(List.of(new Charge(limit, "alice", 1)));
        StackOverflowError failure = new StackOverflowError("of the test");
        assertThat(queues.decideAsync(
                        request,
                        known -> {
                            throw failure;
                        },
                        CallObserver.NONE))
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCause(failure);
        assertThat(queues.decideAsync(request, known -> known, CallObserver.NONE))
                .succeedsWithin(Duration.ofSeconds(60));
    }

    /** As if it had been rejected at once. */
    @Test
    void callThatIsRejectedAfterItsWaitChargesLimitsInDryRun() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.fixedWindow("trial", 5, "5/h"));
        entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(trial, "alice", 1), new Charge(limit, "alice", 1));
        times.pass(limit.maxWait());
        assertFails(call);
        assertThat(store.decide(StoreRequest.peek(new Charge(trial, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    /** It would wait for as long as others hold the permits, and take them when its caller has long gone. */
    @Test
    void callWhoseTimeCannotBeMeasuredFailsAndTakesNothing() throws Exception {
        OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread");
        List<Supplier<CompletionStage<Void>>> failures = List.of(
                () -> {
                    throw noThread;
                },
                () -> CompletableFuture.failedFuture(noThread));
        for (Supplier<CompletionStage<Void>> failure : failures) {
            Settlement both = entered(enter(2));
            times.failure = failure;
            assertThat(enter(1))
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .withCause(noThread);
            times.failure = null;
            CompletableFuture<Settlement> next = enter(2);
            both.release();
            entered(next).release();
            assertThat(free()).isEqualTo(2);
        }
    }

    /** A test of an application moves its clock instead of waiting: by the wait, not by what happens meanwhile. */
    @Test
    void waitForTwoLimitsMovesTheClockByTheWait() throws Exception {
        List<Duration> moved = new ArrayList<>();
        RateLimitGate moving = new RateLimitGate(store, listener(), new Waiter() {
            @Override
            public void await(Duration delay) {
                throw new UnsupportedOperationException();
            }

            @Override
            public CompletionStage<Void> awaitAsync(Duration delay) {
                moved.add(delay);
                return moved.size() < 10
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(new IllegalStateException("moved too often"));
            }
        });
        AcquireRequest request = new AcquireRequest(
                List.of(new Charge(limit, "alice", 2), new Charge(WaitingCalls.limit("other", 1), "alice", 1)),
                false,
                CallListener.NONE);
        Settlement both = entered(moving.enterAsync(request).toCompletableFuture());
        assertThat(moving.enterAsync(request).toCompletableFuture())
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitExceededException.class);
        assertThat(moved).containsExactly(limit.maxWait());
        both.release();
        entered(moving.enterAsync(request).toCompletableFuture());
    }

    /** Permits of other instances are found by looking again, which must not end with one failure. */
    @Test
    void attemptThatCannotBePlannedIsPlannedByTheNextRejection() throws Exception {
        RateLimitGate ofShared = new RateLimitGate(new SharedStore(store), listener(), times);
        Settlement both = entered(enter(2));
        times.failure = () -> CompletableFuture.failedFuture(new OutOfMemoryError("unable to create native thread"));
        times.failing = POLL;
        CompletableFuture<Settlement> call = ofShared.enterAsync(request(1)).toCompletableFuture();
        times.failure = null;
        times.delays.clear();
        CompletableFuture<Settlement> other = ofShared.enterAsync(request(2)).toCompletableFuture();
        call.cancel(false);
        assertThat(times.delays).contains(POLL);
        both.release();
        times.pass(POLL);
        entered(other).release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void refundThatFailsDoesNotEndTheTurns() throws Exception {
        SharedStore failing = new SharedStore(store);
        RateLimitGate ofShared = new RateLimitGate(failing, listener(), times);
        Settlement both = entered(enter(2));
        failing.refund = permits -> {
            throw new IllegalStateException("no refund");
        };
        CompletableFuture<Settlement> call = ofShared.enterAsync(request(1)).toCompletableFuture();
        failing.refund = null;
        CompletableFuture<Settlement> next = ofShared.enterAsync(request(1)).toCompletableFuture();
        both.release();
        ofShared.permitsReleased(limit.id(), KeyDigest.of("alice"));
        entered(call);
        entered(next);
        assertThat(free()).isZero();
    }

    /** Of a store that other instances use, too. */
    private static final class SharedStore extends DelegatingRateLimitStore {

        private Refund refund;

        /** Before it there is no decision. */
        private CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

        /** Before it nothing is refunded. */
        private CompletableFuture<Void> refunded = CompletableFuture.completedFuture(null);

        SharedStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return false;
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            Refund failing = refund;
            return StoreAnswer.of(() -> answer.thenCompose(
                            now -> super.decide(request).toStage())
                    .thenApply(outcome -> outcome.mapRefund(real ->
                            failing != null ? failing : permits -> refunded.thenCompose(now -> real.refund(permits)))));
        }
    }

    private AcquireRequest request(long permits) {
        return new AcquireRequest(List.of(new Charge(limit, "alice", permits)), false, CallListener.NONE);
    }

    /** Decided once more, it would be rejected for the lack of what it has taken itself. */
    @Test
    void callWhoseTimeEndsBeforeTheAnswerEndsWithTheAnswer() throws Exception {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        RateLimitStore distant = new DelegatingRateLimitStore(store) {

            @Override
            public StoreAnswer decide(StoreRequest request) {
                StoreOutcome decided = super.decide(request).await();
                return StoreAnswer.of(() -> answer.thenApply(now -> decided));
            }
        };
        RateLimitGate ofDistant = new RateLimitGate(distant, listener(), times);
        CompletableFuture<Settlement> call = ofDistant.enterAsync(request(2)).toCompletableFuture();
        times.pass(limit.maxWait());
        assertThat(call).isNotDone();
        answer.complete(null);
        entered(call).release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void callWhoseTimeEndsDuringALaterDecisionEndsWithThat() throws Exception {
        SharedStore slow = new SharedStore(store);
        RateLimitGate ofShared = new RateLimitGate(slow, listener(), times);
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call = ofShared.enterAsync(request(2)).toCompletableFuture();
        slow.answer = new CompletableFuture<>();
        ofShared.permitsReleased(limit.id(), KeyDigest.of("alice"));
        times.pass(limit.maxWait());
        assertThat(call).isNotDone();
        slow.answer.complete(null);
        assertFails(call);
        assertThat(ofShared.waitingCalls(limit)).isZero();
    }

    /** Its permits come back when the next one has been rejected for the lack of them. */
    @Test
    void callThatIsCancelledDuringItsDecisionWakesTheNext() throws Exception {
        SharedStore slow = new SharedStore(store);
        slow.answer = new CompletableFuture<>();
        slow.refunded = new CompletableFuture<>();
        RateLimitGate ofShared = new RateLimitGate(slow, listener(), times);
        CompletableFuture<Settlement> gone = ofShared.enterAsync(request(2)).toCompletableFuture();
        CompletableFuture<Settlement> next = ofShared.enterAsync(request(2)).toCompletableFuture();
        gone.cancel(false);
        slow.answer.complete(null);
        assertThat(ofShared.waitingCalls(limit)).isEqualTo(1);
        slow.refunded.complete(null);
        entered(next).release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void heldPermitsAreCountedForTheGauge() throws Exception {
        Settlement first = entered(enter(2));
        assertThat(gate.heldPermits(limit)).isEqualTo(2);
        CompletableFuture<Settlement> next = enter(1);
        assertThat(gate.heldPermits(limit)).isEqualTo(2);
        first.release();
        first.release();
        entered(next);
        assertThat(gate.heldPermits(limit)).isEqualTo(1);
    }

    @Test
    void waitingCallsAreThoseThatLackPermits() throws Exception {
        RateLimit other = RateLimit.named("imports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(1)
                .build();
        Settlement both = entered(enter(2));
        assertThat(gate.waitingCalls(limit)).isZero();
        CompletableFuture<Settlement> first = enter(2);
        CompletableFuture<Settlement> second = enter(1);
        CompletableFuture<Settlement> third = enter(1);
        assertThat(gate.waitingCalls(limit)).isEqualTo(3);
        assertThat(gate.waitingCalls(other)).isZero();
        third.cancel(false);
        assertThat(gate.waitingCalls(limit)).isEqualTo(2);
        both.release();
        entered(first).release();
        entered(second);
        assertThat(gate.waitingCalls(limit)).isZero();
    }

    /** A decision that takes a while is no lack of permits. */
    @Test
    void callsWhoseFirstDecisionIsUnderWayDoNotCountAsWaiting() throws Exception {
        SharedStore slow = new SharedStore(store);
        slow.answer = new CompletableFuture<>();
        RateLimitGate ofShared = new RateLimitGate(slow, listener(), times);
        CompletableFuture<Settlement> first = ofShared.enterAsync(request(1)).toCompletableFuture();
        CompletableFuture<Settlement> second = ofShared.enterAsync(request(1)).toCompletableFuture();
        assertThat(ofShared.waitingCalls(limit)).isZero();
        slow.answer.complete(null);
        entered(first);
        entered(second);
        assertThat(ofShared.waitingCalls(limit)).isZero();
        CompletableFuture<Settlement> third = ofShared.enterAsync(request(1)).toCompletableFuture();
        assertThat(ofShared.waitingCalls(limit)).isEqualTo(1);
        third.cancel(false);
        assertThat(ofShared.waitingCalls(limit)).isZero();
    }

    @Test
    void callsThatWaitForReservedPermitsAreCountedUntilTheirTimeComes() throws Exception {
        RateLimit rate = RateLimit.named("slow")
                .capacity(1)
                .rate("1/h")
                .maxWait(Duration.ofDays(1))
                .build();
        entered(enter(new Charge(rate, "alice", 1)));
        assertThat(gate.waitingCalls(rate)).isZero();
        CompletableFuture<Settlement> first = enter(new Charge(rate, "alice", 1));
        CompletableFuture<Settlement> second = enter(new Charge(rate, "alice", 1));
        assertThat(gate.waitingCalls(rate)).isEqualTo(2);
        second.cancel(false);
        assertThat(gate.waitingCalls(rate)).isEqualTo(1);
        times.pass();
        entered(first);
        assertThat(gate.waitingCalls(rate)).isZero();
    }

    /** Time that passes when the test says so. */
    private static final class Times implements Waiter {

        private final List<Duration> delays = new CopyOnWriteArrayList<>();

        private final List<CompletableFuture<Void>> waits = new CopyOnWriteArrayList<>();

        /** In the place of a wait. */
        private Supplier<CompletionStage<Void>> failure;

        /** {@code null}: every wait fails. */
        private Duration failing;

        @Override
        public void await(Duration delay) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            if (failure != null && (failing == null || failing.equals(delay))) {
                return failure.get();
            }
            CompletableFuture<Void> wait = new CompletableFuture<>();
            delays.add(delay);
            waits.add(wait);
            return wait;
        }

        void pass() {
            waits.forEach(wait -> wait.complete(null));
        }

        /** Lets that time of the waits since the delays were cleared pass, and no other. */
        void pass(Duration delay) {
            for (int i = 0; i < delays.size(); i++) {
                if (delays.get(i).equals(delay)) {
                    waits.get(waits.size() - delays.size() + i).complete(null);
                }
            }
        }
    }
}
