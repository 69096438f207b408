package io.ratelimit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitListener;
import io.ratelimit.TimeSource;
import io.ratelimit.Waiter;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls wait for permits of a concurrency limit, in the order of their arrival. */
@Timeout(30)
class PermitQueueTests {

    private final RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000);

    private final Times times = new Times();

    private final List<String> heard = new CopyOnWriteArrayList<>();

    private final RateLimitGate gate = new RateLimitGate(store, listener(), times);

    private final RateLimit limit = RateLimit.named("exports")
            .algorithm(Algorithm.CONCURRENCY)
            .capacity(2)
            .maxWait(Duration.ofSeconds(5))
            .build();

    private RateLimitListener listener() {
        return (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome);
    }

    private CompletableFuture<Settlement> enter(long permits) {
        return enter(new Charge(limit, "alice", permits));
    }

    private CompletableFuture<Settlement> enter(Charge... charges) {
        return gate.enterAsync(AcquireRequest.of(List.of(charges), CallListener.NONE))
                .toCompletableFuture();
    }

    private static Settlement entered(CompletableFuture<Settlement> call) throws Exception {
        return call.get(10, TimeUnit.SECONDS);
    }

    private long free() {
        return store.peek(new Charge(limit, "alice", 0)).remaining();
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
        assertThat(times.delays).containsOnly(Duration.ofSeconds(5)).hasSize(2);
        times.pass();
        assertThat(first).failsWithin(Duration.ofSeconds(10));
        assertThat(second)
                .failsWithin(Duration.ofSeconds(10))
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

    @Test
    void rateIsChargedOnceAndOnlyWithThePermits() throws Exception {
        RateLimit rate = TestLimits.fixedWindow("rate", 5, "5/h");
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(rate, "alice", 1), new Charge(limit, "alice", 1));
        assertThat(store.peek(new Charge(rate, "alice", 0)).remaining()).isEqualTo(5);
        both.release();
        entered(call);
        assertThat(store.peek(new Charge(rate, "alice", 0)).remaining()).isEqualTo(4);
    }

    @Test
    void trialIsHeldOnceHoweverOftenTheCallTries() throws Exception {
        RateLimit trial = TestLimits.dryRun(TestLimits.concurrency("trial", 5));
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(trial, "alice", 1), new Charge(limit, "alice", 2));
        CompletableFuture<Settlement> other = enter(1);
        both.release();
        Settlement refund = entered(call);
        assertThat(store.peek(new Charge(trial, "alice", 0)).remaining()).isEqualTo(4);
        refund.release();
        assertThat(store.peek(new Charge(trial, "alice", 0)).remaining()).isEqualTo(5);
        entered(other);
    }

    @Test
    void blockedThreadsGoOnOneAfterTheOther() throws Exception {
        Settlement both = entered(enter(2));
        List<String> order = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (String name : List.of("first", "second", "third")) {
            Thread thread = new Thread(() -> {
                Settlement held =
                        gate.enter(AcquireRequest.of(List.of(new Charge(limit, "alice", 2)), CallListener.NONE));
                order.add(name);
                held.release();
            });
            threads.add(thread);
            thread.start();
            awaitParked(thread);
        }
        both.release();
        for (Thread thread : threads) {
            thread.join(10_000);
        }
        assertThat(order).containsExactly("first", "second", "third");
        assertThat(free()).isEqualTo(2);
    }

    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    @Test
    void interruptEndsTheWait() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            assertThatExceptionOfType(RateLimitInterruptedException.class)
                    .isThrownBy(() ->
                            gate.enter(AcquireRequest.of(List.of(new Charge(limit, "alice", 1)), CallListener.NONE)));
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        awaitParked(thread);
        thread.interrupt();
        assertThat(interrupted.get(10, TimeUnit.SECONDS)).isTrue();
        both.release();
        assertThat(free()).isEqualTo(2);
    }

    /** Its permits are on their way to the thread when that is interrupted. */
    @Test
    void interruptAtTheLastMomentLosesNoPermit() throws Exception {
        for (int i = 0; i < 500; i++) {
            Settlement both = entered(enter(2));
            Thread thread = new Thread(() -> {
                try {
                    gate.enter(AcquireRequest.of(List.of(new Charge(limit, "alice", 1)), CallListener.NONE))
                            .release();
                } catch (RateLimitInterruptedException ex) {
                    // Or not.
                }
            });
            thread.start();
            awaitParked(thread);
            Thread interrupting = new Thread(thread::interrupt);
            interrupting.start();
            both.release();
            interrupting.join();
            thread.join();
            assertThat(free()).as("after %d calls", i).isEqualTo(2);
        }
    }

    @Test
    void callThatFindsNoThreadEndsOnThatOfTheRelease() throws Exception {
        StoreRequest request = StoreRequest.refundable(List.of(new Charge(limit, "alice", 1)));
        WaitingCall call = new WaitingCall(request, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        call.entered();
        call.finish(store.decide(request), null);
        assertThat(call.outcome()).isCompleted();
    }

    @Test
    void heldPermitsAreCountedForTheGauge() throws Exception {
        Settlement first = entered(enter(2));
        assertThat(gate.heldPermits().of(limit)).isEqualTo(2);
        CompletableFuture<Settlement> next = enter(1);
        assertThat(gate.heldPermits().of(limit)).isEqualTo(2);
        first.release();
        first.release();
        entered(next);
        assertThat(gate.heldPermits().of(limit)).isEqualTo(1);
    }

    /** Time that passes when the test says so. */
    private static final class Times implements Waiter {

        private final List<Duration> delays = new CopyOnWriteArrayList<>();

        private final List<CompletableFuture<Void>> waits = new CopyOnWriteArrayList<>();

        @Override
        public void await(Duration delay) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            CompletableFuture<Void> wait = new CompletableFuture<>();
            delays.add(delay);
            waits.add(wait);
            return wait;
        }

        void pass() {
            waits.forEach(wait -> wait.complete(null));
        }
    }
}
