package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that enter with a listener of their own and may want back what they took. */
class RateLimitGateEntryTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(10, 9, 0, 0, 100);

    private final Charge quotes = charge(TestLimits.tokenBucket("quotes", 10, "1/s"));

    private final Charge exports = charge(TestLimits.tokenBucket("exports", 10, "1/s"));

    private final Charge trial = charge(TestLimits.dryRun(TestLimits.tokenBucket("trial", 10, "1/s")));

    private final StubStore store = new StubStore();

    private final List<String> heard = new ArrayList<>();

    private final RecordingWaiter waiter = new RecordingWaiter();

    private final RateLimitGate gate = new RateLimitGate(
            store, (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome), waiter);

    /** How a call enters. */
    private enum Way {
        BLOCKING,
        ASYNC
    }

    private Settlement enter(Way way, AcquireRequest entry) {
        if (way == Way.BLOCKING) {
            return gate.enter(entry);
        }
        CompletableFuture<Settlement> entered = gate.enterAsync(entry).toCompletableFuture();
        try {
            return entered.join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
        }
    }

    private AcquireRequest entry(boolean refundable, Charge... charges) {
        return new AcquireRequest(
                List.of(charges),
                refundable,
                listener((all, decisions) -> heard.add(all.size() + " limits said " + decisions.size())));
    }

    private static CallListener listener(BiConsumer<List<Charge>, List<RateLimitDecision>> receiver) {
        return new CallListener() {
            @Override
            public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
                receiver.accept(charges, decisions);
            }
        };
    }

    @ParameterizedTest
    @EnumSource
    void whatARefundableEntryTookCanBeRefunded(Way way) {
        store.answer(YES, YES);
        Settlement refund = enter(way, entry(true, quotes, exports));
        refund.refund(List.of(exports));
        assertThat(store.refunded()).containsExactly(List.of(exports));
    }

    @ParameterizedTest
    @EnumSource
    void whatAnotherEntryTookCannot(Way way) {
        store.answer(YES);
        assertThat(enter(way, entry(false, quotes))).isSameAs(Settlement.NONE);
        Settlement.NONE.refund(List.of(quotes));
        assertThat(store.refunded()).isEmpty();
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
        CallListener failing = listener((charges, decisions) -> {
            throw new IllegalStateException("a defect of the listener");
        });
        store.answer(YES);
        enter(way, new AcquireRequest(List.of(quotes), true, failing));
        store.answer(no(5));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> enter(way, new AcquireRequest(List.of(quotes), true, failing)));
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
        CompletableFuture<Settlement> entered =
                gate.enterAsync(entry(true, quotes)).toCompletableFuture();
        assertThat(heard).containsExactly("1 limits said 1", "quotes ALLOWED");
        assertThat(entered).isNotDone();
        timer.over.complete(null);
        assertThat(entered).isCompleted();
        assertThat(heard).hasSize(2);
    }

    @Test
    void noCallWaitsForACallerThatIsGone() {
        TimerWaiter timer = new TimerWaiter();
        RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, timer);
        store.answer(yesAfter(500));
        gate.enterAsync(entry(true, quotes)).toCompletableFuture().cancel(false);
        assertThat(timer.over).isCancelled();
        assertThat(store.refunded()).isEmpty();
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
