package io.ratelimit.internal.limiter;

import static io.ratelimit.internal.limiter.WaitingCalls.entered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that wait for permits of a concurrency limit: blocked, interrupted, or going on with a call that has waited. */
@Timeout(180)
class PermitQueueThreadTests {

    private final RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000);

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, new StoppedTime());

    private final RateLimit limit = WaitingCalls.limit("exports", 2);

    private CompletableFuture<Settlement> enter(long permits) {
        return gate.enterAsync(request(permits)).toCompletableFuture();
    }

    private AcquireRequest request(long permits) {
        return new AcquireRequest(List.of(new Charge(limit, "alice", permits)), false, CallListener.NONE);
    }

    private long free() {
        return WaitingCalls.free(store, limit);
    }

    @Test
    void blockedThreadsGoOnOneAfterTheOther() throws Exception {
        Settlement both = entered(enter(2));
        List<String> order = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (String name : List.of("first", "second", "third")) {
            Thread thread = new Thread(() -> {
                Settlement held = gate.enter(request(2));
                order.add(name);
                held.release();
            });
            threads.add(thread);
            thread.start();
            awaitParked(thread);
        }
        both.release();
        for (Thread thread : threads) {
            thread.join(60_000);
        }
        assertThat(order).containsExactly("first", "second", "third");
        assertThat(free()).isEqualTo(2);
    }

    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
            Thread.onSpinWait();
        }
    }

    /** As in a long garbage collection. The store decides then, by a timeout of its own: a failure here would apply no policy. */
    @Test
    void callIsDecidedThoughItsInstanceStandsStillForLongerThanItIsPatient() throws Exception {
        RateLimitGate late = new RateLimitGate(
                store,
                (charge, decision, outcome) -> {},
                CallObserver.NONE,
                new StoppedTime(),
                () -> false,
                limit.maxWait().negated(),
                null);
        Settlement both = late.enter(request(2));
        CompletableFuture<Settlement> call = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                call.complete(late.enter(request(1)));
            } catch (RuntimeException ex) {
                call.completeExceptionally(ex);
            }
        });
        thread.start();
        awaitParked(thread);
        both.release();
        entered(call).release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void interruptEndsTheWait() throws Exception {
        Settlement both = entered(enter(2));
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            assertThatExceptionOfType(RateLimitInterruptedException.class).isThrownBy(() -> gate.enter(request(1)));
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        awaitParked(thread);
        thread.interrupt();
        assertThat(interrupted.get(60, TimeUnit.SECONDS)).isTrue();
        both.release();
        assertThat(free()).isEqualTo(2);
    }

    /** Its permits are on their way to the thread when that is interrupted. */
    @BothTiers
    @Test
    void interruptAtTheLastMomentLosesNoPermit() throws Exception {
        for (int i = 0; i < TestRandom.cases(25_000); i++) {
            Settlement both = entered(enter(2));
            Thread thread = new Thread(() -> {
                try {
                    gate.enter(request(1)).release();
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
        WaitingCall call = new WaitingCall(
                request,
                store,
                UnaryOperator.identity(),
                task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                late -> {});
        call.entered();
        call.finish(store.decide(request).await(), null);
        assertThat(call.outcome()).isCompleted();
    }

    /** Not on one of its own each. */
    @Test
    void callsThatHaveWaitedEndOnAThreadThatIsIdle() throws Exception {
        Set<Thread> threads = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            Settlement both = entered(enter(2));
            CompletableFuture<Thread> ended = enter(2).thenApply(held -> {
                held.release();
                return Thread.currentThread();
            });
            both.release();
            Thread thread = ended.get(10, TimeUnit.SECONDS);
            awaitParked(thread);
            threads.add(thread);
        }
        assertThat(threads).hasSize(1);
    }

    /** No time passes. */
    private static final class StoppedTime implements Waiter {

        @Override
        public void await(Duration delay) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            return new CompletableFuture<>();
        }
    }
}
