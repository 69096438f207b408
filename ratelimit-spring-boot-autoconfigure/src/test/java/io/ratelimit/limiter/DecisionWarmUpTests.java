package io.ratelimit.limiter;

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
    void someHundredDecisionsAreMade() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        assertThat(new DecisionWarmUp(store).run(() -> false)).isEqualTo(450);
        assertThat(store.asked()).hasSize(450);
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
