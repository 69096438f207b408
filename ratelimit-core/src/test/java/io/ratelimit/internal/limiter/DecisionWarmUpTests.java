package io.ratelimit.internal.limiter;

import static io.ratelimit.Algorithm.FIXED_WINDOW;
import static io.ratelimit.Algorithm.LEAKY_BUCKET;
import static io.ratelimit.Algorithm.SLIDING_WINDOW;
import static io.ratelimit.Algorithm.SLIDING_WINDOW_LOG;
import static io.ratelimit.Algorithm.TOKEN_BUCKET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.StubStore;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DecisionWarmUpTests {

    private final StubStore store = new StubStore();

    @Test
    void eachAlgorithmDecides() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        assertThat(new DecisionWarmUp(store).run(() -> false)).isEqualTo(63);
        assertThat(store.asked())
                .hasSize(63)
                .extracting(charges -> charges.get(0).limit().algorithm())
                .contains(TOKEN_BUCKET, LEAKY_BUCKET, FIXED_WINDOW, SLIDING_WINDOW, SLIDING_WINDOW_LOG);
    }

    @Test
    void noRoundBeginsOnceItIsOver() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        AtomicInteger rounds = new AtomicInteger();
        DecisionWarmUp warmUp = new DecisionWarmUp(store);
        assertThat(warmUp.run(() -> rounds.getAndIncrement() == 2)).isEqualTo(2 * 9);
        assertThat(warmUp.run(() -> true)).isZero();
    }

    @Test
    void itEndsWithTheFirstFailure() {
        store.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null));
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> new DecisionWarmUp(store).run(() -> false));
    }
}
