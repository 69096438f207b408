package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.OwnAlgorithms;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An algorithm of the application fails to refund: what the call has taken of its other limits comes back. */
class FailingRefundTests {

    private final InMemoryRateLimitStore store = new InMemoryRateLimitStore(new TestClock(), 100);

    private final Charge failing = new Charge(
            RateLimit.named("failing")
                    .algorithm(new OwnAlgorithms.Batches() {

                        @Override
                        public State refund(Rule rule, State state, long now, long permits) {
                            throw new IllegalStateException("on purpose");
                        }
                    })
                    .rate("5/m")
                    .build(),
            "alice",
            1);

    private final Charge tokens = new Charge(TestLimits.tokenBucket("tokens", 5, "5/m"), "alice", 1);

    private final Charge held = new Charge(
            RateLimit.named("held").algorithm(Algorithm.CONCURRENCY).capacity(5).build(), "alice", 1);

    @Test
    void permitsOfOtherLimitsAreRefunded() {
        refund(store.decide(StoreRequest.refundable(List.of(failing, tokens))));
        assertThat(store.decide(StoreRequest.peek(tokens)).decision().remaining())
                .isEqualTo(5);
    }

    @Test
    void permitsThatTheCallHoldsAreReleased() {
        refund(store.decide(StoreRequest.refundable(List.of(failing, held, tokens))));
        assertThat(store.heldPermits(held.limit())).isZero();
        assertThat(store.decide(StoreRequest.peek(tokens)).decision().remaining())
                .isEqualTo(5);
    }

    private static void refund(StoreOutcome call) {
        var unused = catchThrowable(
                () -> call.refund().refund(call.charges()).toCompletableFuture().join());
    }
}
