package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call that waits for a lease depends on the store alone, and on that for no longer than its timeout. */
@Timeout(180)
class LeaseWaitTests {

    private final TestClock clock = new TestClock();

    private final RateLimit limit = window("quotes", 1_000, 100);

    private final Charge one = new Charge(limit, "alice", 1);

    private final TrippingStore trips = new TrippingStore(new ExactLeaseStore(clock)) {
        @Override
        public StoreAnswer decide(StoreRequest request) {
            return super.decide(request).map(this::breaking);
        }

        private StoreOutcome breaking(StoreOutcome outcome) {
            Lease lease = outcome.lease();
            return lease == null ? outcome : outcome.with(new Lease(lease.permits(), new BreakingLease(lease)));
        }
    };

    /** Refunds, and breaks once if it is told to. */
    private final class BreakingLease implements Lease.Unused {

        private final Lease lease;

        BreakingLease(Lease lease) {
            this.lease = lease;
        }

        @Override
        public int affordable() {
            Error error = broken;
            broken = null;
            if (error != null) {
                throw error;
            }
            return lease.unused().affordable();
        }

        @Override
        public CompletionStage<Void> refund(long permits) {
            return lease.unused().refund(permits).thenRun(refunded::countDown);
        }
    }

    private final CountDownLatch refunded = new CountDownLatch(1);

    private volatile Error broken;

    private final CountDownLatch over = new CountDownLatch(1);

    private LeasingRateLimitStore store = within(Duration.ofMillis(100));

    private LeasingRateLimitStore within(Duration timeout) {
        return new LeasingRateLimitStore(trips, timeout);
    }

    @AfterEach
    void close() {
        over.countDown();
        store.close();
    }

    /** Until the next call needs a lease of 1, 2, 4. */
    private void takeUntilALeaseIsDue() {
        for (int i = 0; i < 1 + 2; i++) {
            store.decide(one).await();
        }
    }

    private static Throwable failureOf(FutureTask<?> call) throws InterruptedException {
        try {
            return new AssertionError("decided: " + call.get());
        } catch (ExecutionException ex) {
            return ex.getCause();
        }
    }

    @Test
    void callIsDecidedThoughNoThreadCanBeHadForLeases() {
        ScheduledThreadPoolExecutor noThread = new ScheduledThreadPoolExecutor(1, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(
                trips, Duration.ofMillis(100), System::nanoTime, noThread, Runnable::run, 100);
        assertThat(leasing.decide(one).await().decision().allowed()).isTrue();
        assertThat(leasing.decide(StoreRequest.of(List.of(one)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture())
                .succeedsWithin(Duration.ofSeconds(60))
                .satisfies(decisions -> assertThat(decisions.get(0).allowed()).isTrue());
        noThread.shutdownNow();
    }

    private FutureTask<RateLimitDecision> blocking() {
        FutureTask<RateLimitDecision> call =
                new FutureTask<>(() -> store.decide(one).await().decision());
        Thread thread = new Thread(call);
        thread.start();
        while (!call.isDone()
                && thread.getState() != Thread.State.TIMED_WAITING
                && thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return call;
    }

    private static void assertTimeout(Throwable failure) {
        assertThat(failure)
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        thrown -> assertThat(thrown.getReason()).isEqualTo(Reason.TIMEOUT));
    }

    @Test
    void threadsLeaveInTimeThoughTheStoreNeverAnswers() throws Exception {
        takeUntilALeaseIsDue();
        var unused = trips.hold();
        FutureTask<?> asks = blocking();
        FutureTask<?> waits = blocking();
        assertTimeout(failureOf(asks));
        assertTimeout(failureOf(waits));
    }

    @Test
    void threadIsNotHeldByWhatFollowsTheCallOfAnother() throws Exception {
        store = within(Duration.ofSeconds(50));
        takeUntilALeaseIsDue();
        CompletableFuture<Void> answer = trips.hold();
        FutureTask<RateLimitDecision> asks = blocking();
        FutureTask<RateLimitDecision> waits = blocking();
        var unused = store.decide(StoreRequest.of(List.of(one)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .thenRun(this::takeTime);
        Thread answers = new Thread(() -> answer.complete(null));
        answers.start();
        assertThat(asks.get().allowed()).isTrue();
        assertThat(waits.get().allowed()).isTrue();
        assertThat(over.getCount()).isOne();
    }

    private void takeTime() {
        try {
            over.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void threadThatIsInterruptedIsDecidedAllTheSame() throws Exception {
        takeUntilALeaseIsDue();
        FutureTask<Boolean> call = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            return store.decide(one).await().decision().allowed() && Thread.interrupted();
        });
        new Thread(call).start();
        assertThat(call.get()).isTrue();
    }

    /** The store has less than was asked for, and does not answer the one that asks by itself. */
    @Test
    void asynchronousCallThatIsTooLateFailsInAThreadOfItsOwn() throws Exception {
        RateLimit small = window("small", 10, 8);
        Charge charge = new Charge(small, "alice", 1);
        for (int i = 0; i < 1 + 2; i++) {
            store.decide(charge).await();
        }
        CompletableFuture<Void> answer = trips.hold();
        List<CompletableFuture<String>> threads = Stream.generate(() -> store.decide(StoreRequest.of(List.of(charge)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .handle((decisions, thrown) -> Thread.currentThread().getName())
                        .toCompletableFuture())
                .limit(6)
                .toList();
        var unused = trips.hold();
        answer.complete(null);
        assertThat(threads)
                .extracting(CompletableFuture::get)
                .contains("ratelimit-late-lease")
                .doesNotContain("ratelimit-leases");
    }

    @Test
    void sweepGoesOnAfterAnError() throws Exception {
        broken = new StackOverflowError();
        takeUntilALeaseIsDue();
        store.decide(one).await();
        refunded.await();
        assertThat(broken).isNull();
    }

    /** No other call comes, and nothing else looks after it. */
    @Test
    void asynchronousCallEndsThoughTheStoreNeverAnswers() throws Exception {
        takeUntilALeaseIsDue();
        var unused = trips.hold();
        FutureTask<?> call = new FutureTask<>(() -> store.decide(StoreRequest.of(List.of(one)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture()
                .get());
        call.run();
        assertTimeout(failureOf(call).getCause());
    }

    /** What it brings in the end is of use to others. */
    @Test
    void requestWithoutAnAnswerIsTakenUpAgain() {
        store = new LeasingRateLimitStore(
                trips, Duration.ofMillis(100), () -> clock.micros() * 1_000, new LeaseThread(clock), Runnable::run, 10);
        takeUntilALeaseIsDue();
        CompletableFuture<Void> answer = trips.hold();
        CompletableFuture<?> asks = store.decide(StoreRequest.of(List.of(one)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture();
        CompletableFuture<?> waits = store.decide(StoreRequest.of(List.of(one)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture();
        clock.advance(Duration.ofMillis(299));
        assertThat(store.giveUpOverdue()).isNull();
        clock.advance(Duration.ofMillis(1));
        assertThat(store.giveUpOverdue()).isNotNull();
        assertThat(store.giveUpOverdue()).isNull();
        assertThat(asks).isCompletedExceptionally();
        assertThat(waits).isCompletedExceptionally();
        assertThat(store.decide(StoreRequest.of(List.of(one)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture())
                .isCompleted();
        assertThat(store.decide(StoreRequest.of(List.of(one)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture())
                .isCompleted();
        long used = limit.capacity()
                - trips.decide(StoreRequest.peek(one)).await().decision().remaining();
        answer.complete(null);
        assertThat(limit.capacity()
                        - trips.decide(StoreRequest.peek(one))
                                .await()
                                .decision()
                                .remaining())
                .as("it alone is used")
                .isEqualTo(used + 1);
    }
}
