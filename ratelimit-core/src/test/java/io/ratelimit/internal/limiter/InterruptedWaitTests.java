package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.WaitingThreads;
import io.ratelimit.testing.WaitingThreads.End;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InterruptedWaitTests {

    private static final RateLimitDecision NOW = RateLimitDecision.ofMicros(10, 9, 0, 0, 100);

    private static final RateLimitDecision LATER = after(WaitingThreads.FOREVER);

    private final Charge quotes = charge("quotes");

    private final Charge exports = charge("exports");

    private final StubStore store = new StubStore();

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking());

    @AfterEach
    void beLeftUninterrupted() {
        Thread.interrupted();
    }

    @Test
    void endsAtOnceAndLeavesTheThreadInterrupted() {
        store.answer(after(Duration.ofMillis(1)), LATER);
        WaitingThreads threads = new WaitingThreads();
        threads.start(() -> gate.enter(List.of(quotes, exports)));
        threads.awaitParked();
        assertThat(threads.interrupt()).singleElement().satisfies(end -> {
            assertThat(end.interrupted()).isTrue();
            assertThat(end.thrown())
                    .isInstanceOf(RateLimitInterruptedException.class)
                    .hasMessage("Interrupted while waiting for rate limit 'exports'")
                    .hasCauseInstanceOf(InterruptedException.class)
                    .extracting(ex -> ((RateLimitInterruptedException) ex).getLimitName())
                    .isEqualTo("exports");
        });
    }

    @Test
    void whoNeedNotWaitMayBeInterrupted() {
        store.answer(NOW);
        Thread.currentThread().interrupt();
        gate.enter(quotes);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void whoHasToWaitMayNotBeInterruptedBefore() {
        store.answer(LATER);
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(RateLimitInterruptedException.class)
                .isThrownBy(() -> gate.enter(quotes))
                .withMessage("Interrupted while waiting for rate limit 'quotes'");
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    /** Were a waiting thread to keep its carrier, neither all of these could wait nor one more run. */
    @Test
    void manyMoreCanWaitThanThereAreProcessors() {
        ThreadFactory factory = WaitingThreads.virtualIfPossible();
        WaitingThreads waiting = new WaitingThreads(factory);
        int many = 200 + Runtime.getRuntime().availableProcessors();
        store.answer(LATER);
        for (int i = 0; i < many; i++) {
            waiting.start(() -> gate.enter(quotes));
        }
        waiting.awaitParked();
        store.answer(NOW);
        WaitingThreads running = new WaitingThreads(factory);
        running.start(() -> gate.enter(quotes));
        assertThat(running.ends()).containsExactly(new End(null, false));
        assertThat(waiting.interrupt())
                .hasSize(many)
                .allSatisfy(end -> assertThat(end.thrown()).isInstanceOf(RateLimitInterruptedException.class));
    }

    private static RateLimitDecision after(Duration delay) {
        return new RateLimitDecision(true, 10, 0, delay, Duration.ZERO, delay);
    }

    private static Charge charge(String name) {
        return new Charge(TestLimits.tokenBucket(name, 10, "1/s"), "secret", 1);
    }
}
