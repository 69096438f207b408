package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a call holds ends once, whatever happens between its decision and its end. */
@Timeout(180)
class HoldEndTests {

    private final RateLimitStore memory = new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000);

    private final RateLimit limit = TestLimits.concurrency("exports", 2);

    private final RateLimit waiting = RateLimit.named("exports")
            .algorithm(Algorithm.CONCURRENCY)
            .capacity(2)
            .maxWait(Duration.ofMinutes(1))
            .build();

    private final RateLimit spaced = RateLimit.named("spaced")
            .algorithm(Algorithm.LEAKY_BUCKET)
            .capacity(5)
            .rate("1/m")
            .build();

    private final RateLimitGate gate = gate(memory, (charge, decision, outcome) -> {}, Waiter.parking());

    private static RateLimitGate gate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        return new RateLimitGate(store, listener, waiter);
    }

    private static AcquireRequest request(Charge... charges) {
        return new AcquireRequest(List.of(charges), false, CallListener.NONE);
    }

    private static Charge two(RateLimit limit) {
        return new Charge(limit, "alice", 2);
    }

    private static Charge one(RateLimit limit) {
        return new Charge(limit, "alice", 1);
    }

    private void assertNothingIsHeld() {
        assertThat(memory.decide(StoreRequest.peek(one(limit)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
        assertThat(memory.heldPermits(limit)).isZero();
    }

    @Test
    void errorOfAListenerEndsTheHold() {
        RateLimitGate failing = gate(
                memory,
                (charge, decision, outcome) -> {
                    throw new StackOverflowError("expected by the test");
                },
                Waiter.parking());
        for (RateLimit each : List.of(limit, waiting)) {
            assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> failing.enter(request(two(each))));
            assertNothingIsHeld();
            assertThat(failing.enterAsync(request(two(each))).toCompletableFuture())
                    .isCompletedExceptionally();
            assertNothingIsHeld();
        }
    }

    @Test
    void errorOfAWaitForAnotherLimitEndsTheHold() {
        RateLimitGate failing = gate(memory, (charge, decision, outcome) -> {}, new FailingWaiter());
        gate.enter(request(one(spaced)));
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> failing.enter(request(two(limit), one(spaced))));
        assertNothingIsHeld();
        assertThat(failing.enterAsync(request(two(limit), one(spaced))).toCompletableFuture())
                .isCompletedExceptionally();
        assertNothingIsHeld();
    }

    /** It may have recorded that the request has paid for the limit. */
    @Test
    void listenerLearnsThatACallWhichDoesNotTakePlaceHoldsNothing() {
        RateLimitGate failing = gate(memory, (charge, decision, outcome) -> {}, new FailingWaiter());
        gate.enter(request(one(spaced)));
        AtomicInteger holding = new AtomicInteger();
        CallListener listener = new CallListener() {

            @Override
            public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
                holding.incrementAndGet();
            }

            @Override
            public void onRelease() {
                holding.decrementAndGet();
            }
        };
        AcquireRequest call = new AcquireRequest(List.of(two(limit), one(spaced)), false, listener);
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> failing.enter(call));
        assertThat(holding).hasValue(0);
        assertThat(failing.enterAsync(call).toCompletableFuture()).isCompletedExceptionally();
        assertThat(holding).hasValue(0);
        CompletableFuture<Settlement> waits = gate.enterAsync(call).toCompletableFuture();
        assertThat(holding).hasValue(1);
        waits.cancel(false);
        assertThat(holding).hasValue(0);
    }

    @Test
    void listenerThatFailsAtTheReleaseHidesNoRejection() {
        gate.enter(request(two(limit)));
        CallListener listener = new CallListener() {

            @Override
            public void onRelease() {
                throw new IllegalStateException("a defect of the listener");
            }
        };
        AcquireRequest call = new AcquireRequest(List.of(one(limit)), false, listener);
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> gate.enter(call));
        assertThat(gate.enterAsync(call).toCompletableFuture())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void cancellationDuringTheDecisionEndsTheHold() {
        for (RateLimit each : List.of(limit, waiting)) {
            SlowStore slow = new SlowStore(memory);
            CompletableFuture<Settlement> call = gate(slow, (charge, decision, outcome) -> {}, Waiter.parking())
                    .enterAsync(request(two(each)))
                    .toCompletableFuture();
            call.cancel(false);
            slow.answer.complete(null);
            // A call that may wait ends on another thread.
            await().untilAsserted(this::assertNothingIsHeld);
        }
    }

    @Test
    void endOfACallAfterAResetReleasesNothing() {
        Settlement reset = gate.enter(request(two(limit)));
        gate.reset(one(limit));
        assertNothingIsHeld();
        Settlement next = gate.enter(request(one(limit)));
        reset.release();
        reset.release();
        assertThat(gate.heldPermits(limit)).isEqualTo(1);
        assertThat(memory.decide(StoreRequest.peek(one(limit)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(1);
        next.release();
        assertNothingIsHeld();
    }

    @Test
    void resetLetsCallsInThatWait() throws Exception {
        Settlement reset = gate.enter(request(two(waiting)));
        CompletableFuture<Settlement> first =
                gate.enterAsync(request(one(waiting))).toCompletableFuture();
        CompletableFuture<Settlement> second =
                gate.enterAsync(request(one(waiting))).toCompletableFuture();
        assertThat(first).isNotDone();
        gate.resetAsync(one(waiting)).toCompletableFuture().join();
        first.get(60, TimeUnit.SECONDS).release();
        Settlement last = second.get(60, TimeUnit.SECONDS);
        reset.release();
        assertThat(gate.heldPermits(waiting)).isEqualTo(1);
        last.release();
        assertNothingIsHeld();
    }

    /** There is no thread for a wait. */
    private static final class FailingWaiter implements Waiter {

        @Override
        public void await(Duration delay) {
            throw new OutOfMemoryError("expected by the test");
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            throw new OutOfMemoryError("expected by the test");
        }
    }

    /** Decides, and replies when the test says so. */
    private static final class SlowStore extends DelegatingRateLimitStore {

        private final CompletableFuture<Void> answer = new CompletableFuture<>();

        SlowStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            return StoreAnswer.of(() -> super.decide(request).toStage().thenCombine(answer, (outcome, now) -> outcome));
        }
    }
}
