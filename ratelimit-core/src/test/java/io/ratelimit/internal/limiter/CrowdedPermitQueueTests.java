package io.ratelimit.internal.limiter;

import static io.ratelimit.internal.limiter.WaitingCalls.assertFails;
import static io.ratelimit.internal.limiter.WaitingCalls.entered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Very many calls wait, timers and refunds fail, and buckets are reset meanwhile: each call goes on or ends. */
@Timeout(180)
class CrowdedPermitQueueTests {

    private static final Duration POLL = Duration.ofSeconds(1);

    private final Store store = new Store();

    private final Timers timers = new Timers();

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, timers);

    private final RateLimit limit = limit(2);

    private static RateLimit limit(long capacity) {
        return WaitingCalls.limit("exports", capacity);
    }

    private CompletableFuture<Settlement> enter(Charge... charges) {
        return WaitingCalls.enter(gate, charges);
    }

    private CompletableFuture<Settlement> enter(long permits) {
        return enter(new Charge(limit, "alice", permits));
    }

    private long free() {
        return WaitingCalls.free(store, limit);
    }

    /** Nothing tells of it. */
    private void freeElsewhere() {
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
    }

    private List<CompletableFuture<Settlement>> crowd(int number) {
        return Stream.generate(() -> enter(1)).limit(number).toList();
    }

    @Test
    void releaseAtTheMomentOfARejectionIsNotLost() {
        RateLimit other = WaitingCalls.limit("reports", 1);
        List<CompletableFuture<StoreOutcome>> answers = new ArrayList<>();
        List<StoreRequest> requests = new ArrayList<>();
        RateLimitGate asking = new RateLimitGate(
                new DelegatingRateLimitStore(store) {

                    @Override
                    public StoreAnswer decide(StoreRequest request) {
                        requests.add(request);
                        answers.add(new CompletableFuture<>());
                        return StoreAnswer.of(() -> answers.get(answers.size() - 1));
                    }
                },
                (charge, decision, outcome) -> {},
                timers);
        var unused = asking.enterAsync(new AcquireRequest(
                List.of(new Charge(limit, "alice", 1), new Charge(other, "alice", 1)), false, CallListener.NONE));
        RateLimitDecision available = RateLimitDecision.ofMicros(2, 1, 0, 0, 0);
        RateLimitDecision lacking = RateLimitDecision.ofMicros(2, 0, 0, 1_000_000, 1_000_000);
        AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        answers.get(0).complete(StoreOutcome.of(requests.get(0), new AbstractList<>() {

            @Override
            public RateLimitDecision get(int index) {
                meanwhile.getAndSet(() -> {}).run();
                return index == 0 ? available : lacking;
            }

            @Override
            public int size() {
                return 2;
            }
        }));
        asking.permitsReleased(other.id(), KeyDigest.of("alice"));
        assertThat(requests).hasSize(2);
        // The thread that tells of the release has seen the rejection before, which did not lack these permits.
        meanwhile.set(() -> answers.get(1).complete(StoreOutcome.of(requests.get(1), List.of(lacking, available))));
        asking.permitsReleased(limit.id(), KeyDigest.of("alice"));
        assertThat(requests).hasSize(3);
    }

    @LongRunning
    @Test
    void noMoreCallsWaitThanMayAndOthersAreRejectedAtOnce() throws Exception {
        Settlement both = entered(enter(2));
        List<CompletableFuture<Settlement>> crowd = crowd(PermitQueueRegistry.MOST_WAITING);
        assertThat(crowd).noneMatch(CompletableFuture::isDone);
        assertThat(enter(1))
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        RateLimitExceededException.class,
                        rejection ->
                                assertThat(rejection.getDecision().retryAfter()).isEqualTo(Duration.ofSeconds(1)));
        // Also for another key. A call that leaves makes room.
        entered(enter(new Charge(limit, "bob", 2)));
        assertThat(enter(new Charge(limit, "bob", 1))).isCompletedExceptionally();
        crowd.get(77).cancel(false);
        CompletableFuture<Settlement> last = enter(1);
        assertThat(last).isNotDone();
        crowd.forEach(call -> call.cancel(false));
        both.release();
        entered(last);
        assertThat(free()).isEqualTo(1);
    }

    @LongRunning
    @Test
    void callThatMayNotWaitAndIsOverBeforeItsDecisionHoldsNothing() throws Exception {
        Settlement both = entered(enter(2));
        List<CompletableFuture<Settlement>> crowd = crowd(PermitQueueRegistry.MOST_WAITING);
        Charge bob = new Charge(limit, "bob", 1);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        store.answer = answer;
        enter(bob).cancel(false);
        Thread thread = new Thread(() -> assertThatExceptionOfType(RateLimitInterruptedException.class)
                .isThrownBy(() -> gate.enter(new AcquireRequest(List.of(bob), false, CallListener.NONE))));
        thread.start();
        thread.interrupt();
        thread.join();
        answer.complete(null);
        assertThat(store.decide(StoreRequest.peek(bob)).await().decision().remaining())
                .isEqualTo(2);
        store.answer = CompletableFuture.completedFuture(null);
        crowd.forEach(call -> call.cancel(false));
        both.release();
    }

    /** Each release decides the call that gets the permit, and the next one, which is the first then. */
    @Test
    void workGrowsWithTheNumberOfCallsAndNoFaster() throws Exception {
        int number = 2_000;
        Settlement both = entered(enter(2));
        List<CompletableFuture<Settlement>> crowd = crowd(number);
        assertThat(store.decided).hasValue(2);
        crowd.subList(0, number / 2).forEach(call -> call.cancel(false));
        assertThat(store.decided.get()).isLessThanOrEqualTo(2 + number / 2);
        store.decided.set(0);
        both.release();
        for (CompletableFuture<Settlement> call : crowd.subList(number / 2, number)) {
            entered(call).release();
        }
        assertThat(store.decided.get()).isLessThanOrEqualTo(2 * number);
    }

    @Test
    void callWithoutATimerDoesNotWait() throws Exception {
        Settlement both = entered(enter(2));
        timers.broken = true;
        assertFails(enter(1));
        timers.broken = false;
        CompletableFuture<Settlement> next = enter(1);
        assertThat(next).isNotDone();
        both.release();
        entered(next);
        assertThat(free()).isEqualTo(1);
    }

    @Test
    void timerThatFailsEndsTheWait() throws Exception {
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call = enter(1);
        assertThat(call).isNotDone();
        timers.waits.forEach(
                wait -> wait.completeExceptionally(new OutOfMemoryError("unable to create native thread")));
        assertFails(call);
    }

    @Test
    void refundThatThrowsHoldsNothingUp() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.concurrency("trial", 5));
        Settlement both = entered(enter(2));
        store.refundsFail = true;
        CompletableFuture<Settlement> call = enter(new Charge(trial, "alice", 1), new Charge(limit, "alice", 1));
        store.refundsFail = false;
        CompletableFuture<Settlement> next = enter(1);
        both.release();
        entered(call);
        entered(next);
    }

    @Test
    void attemptsGoOnAfterATimerHasFailed() throws Exception {
        store.shared = true;
        var unused = entered(enter(2));
        timers.broken = true;
        CompletableFuture<Settlement> gone = enter(1);
        assertFails(gone);
        timers.broken = false;
        CompletableFuture<Settlement> call = enter(1);
        freeElsewhere();
        timers.pass(POLL);
        entered(call);
    }

    /** However many buckets calls wait for, there is one timer. */
    @Test
    void oneAttemptIsPlannedForAllBuckets() throws Exception {
        store.shared = true;
        List<CompletableFuture<Settlement>> calls = new ArrayList<>();
        for (String key : List.of("alice", "bob", "carol")) {
            var unused = entered(enter(new Charge(limit, key, 2)));
            calls.add(enter(new Charge(limit, key, 1)));
        }
        assertThat(timers.polls).hasSize(1);
        freeElsewhere();
        timers.pass(POLL);
        entered(calls.get(0));
        assertThat(calls.subList(1, 3)).noneMatch(CompletableFuture::isDone);
        assertThat(timers.polls).hasSize(2);
    }

    /** The call that is told of a release is kept waiting by its other limit. */
    @Test
    void callThatWasNotToldTriesAgainSoon() throws Exception {
        RateLimit own = WaitingCalls.limit("own", 1);
        Settlement both = entered(enter(new Charge(limit, "all", 2)));
        var unused = entered(enter(new Charge(own, "alice", 1)));
        CompletableFuture<Settlement> alice = enter(new Charge(own, "alice", 1), new Charge(limit, "all", 1));
        CompletableFuture<Settlement> carol = enter(new Charge(own, "carol", 1), new Charge(limit, "all", 2));
        both.release();
        timers.pass(POLL);
        entered(carol);
        assertThat(alice).isNotDone();
    }

    @Test
    void messageFindsItsQueueAlsoIfItCameDuringTheFirstDecision() throws Exception {
        store.shared = true;
        var unused = entered(enter(2));
        store.meanwhile = () -> {
            freeElsewhere();
            gate.permitsReleased("others", KeyDigest.of("alice"));
            gate.permitsReleased(limit.id(), KeyDigest.of("alice"));
        };
        entered(enter(1));
        var unusedToo = entered(enter(1));
        CompletableFuture<Settlement> call = enter(1);
        gate.permitsReleased(limit.id(), KeyDigest.of("bob"));
        gate.permitsReleased("others", KeyDigest.of("alice"));
        int before = store.decided.get();
        gate.permitsReleased(limit.id(), KeyDigest.of("alice"));
        assertThat(store.decided).hasValue(before + 1);
        assertThat(call).isNotDone();
    }

    /** The call does not lack the permits yet. */
    @Test
    void releaseDuringTheFirstDecisionWakesACallOfSeveralLimits() throws Exception {
        Settlement both = entered(enter(new Charge(limit, "all", 2)));
        store.meanwhile = both::release;
        entered(enter(new Charge(WaitingCalls.limit("own", 1), "alice", 1), new Charge(limit, "all", 1)));
    }

    @Test
    void messageAboutAnyOfItsLimitsFindsACall() throws Exception {
        store.shared = true;
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call =
                enter(new Charge(WaitingCalls.limit("own", 1), "alice", 1), new Charge(limit, "alice", 1));
        freeElsewhere();
        gate.permitsReleased(limit.id(), KeyDigest.of("bob"));
        assertThat(call).isNotDone();
        gate.permitsReleased(limit.id(), KeyDigest.of("alice"));
        entered(call);
    }

    @Test
    void resetWakesTheCallsThatWait() throws Exception {
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call = enter(1);
        gate.reset(new Charge(limit, "alice", 0));
        entered(call);
        CompletableFuture<Settlement> next = enter(2);
        gate.resetAsync(new Charge(limit, "alice", 0)).toCompletableFuture().get(60, TimeUnit.SECONDS);
        entered(next);
    }

    private static final class Timers implements Waiter {

        private final List<CompletableFuture<Void>> waits = new CopyOnWriteArrayList<>();

        private final List<CompletableFuture<Void>> polls = new CopyOnWriteArrayList<>();

        private volatile boolean broken;

        @Override
        public void await(Duration delay) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            if (broken) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            CompletableFuture<Void> wait = new CompletableFuture<>();
            (delay.equals(POLL) ? polls : waits).add(wait);
            return wait;
        }

        void pass(Duration delay) {
            (delay.equals(POLL) ? polls : waits).forEach(wait -> wait.complete(null));
        }
    }

    private static final class Store extends DelegatingRateLimitStore {

        private final AtomicInteger decided = new AtomicInteger();

        private volatile boolean shared;

        private volatile boolean refundsFail;

        private volatile Runnable meanwhile = () -> {};

        /** Before it there is no decision. */
        private volatile CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

        Store() {
            super(new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000));
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return !shared;
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            decided.incrementAndGet();
            return StoreAnswer.of(() ->
                    answer.thenCompose(now -> super.decide(request).toStage()).thenApply(this::decided));
        }

        private StoreOutcome decided(StoreOutcome outcome) {
            Runnable before = meanwhile;
            meanwhile = () -> {};
            before.run();
            return outcome.mapRefund(refund -> permits -> {
                if (refundsFail) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                return refund.refund(permits);
            });
        }
    }
}
