package io.ratelimit.internal.limiter;

import static io.ratelimit.Algorithm.FIXED_WINDOW;
import static io.ratelimit.Algorithm.LEAKY_BUCKET;
import static io.ratelimit.Algorithm.SLIDING_WINDOW;
import static io.ratelimit.Algorithm.SLIDING_WINDOW_LOG;
import static io.ratelimit.Algorithm.TOKEN_BUCKET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.StubStore;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DecisionWarmUpTests {

    /** One call alone and eight together. */
    private static final int OF_A_ROUND = 9;

    /** A round for each algorithm but concurrency, and two more for token buckets. */
    private static final int ROUNDS = Algorithm.values().length - 1 + 2;

    private final StubStore store = new StubStore();

    @Test
    void eachAlgorithmDecides() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        assertThat(new DecisionWarmUp(store).run(() -> false)).isEqualTo(ROUNDS * OF_A_ROUND);
        assertThat(store.asked())
                .hasSize(ROUNDS * OF_A_ROUND)
                .extracting(charges -> charges.get(0).limit().algorithm())
                .contains(TOKEN_BUCKET, LEAKY_BUCKET, FIXED_WINDOW, SLIDING_WINDOW, SLIDING_WINDOW_LOG);
    }

    @Test
    void noRoundBeginsOnceItIsOver() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        AtomicInteger rounds = new AtomicInteger();
        DecisionWarmUp warmUp = new DecisionWarmUp(store);
        assertThat(warmUp.run(() -> rounds.getAndIncrement() == 2)).isEqualTo(2 * OF_A_ROUND);
        assertThat(warmUp.run(() -> true)).isZero();
    }

    @Test
    void itEndsWithTheFirstFailure() {
        store.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null));
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> new DecisionWarmUp(store).run(() -> false));
    }
}
