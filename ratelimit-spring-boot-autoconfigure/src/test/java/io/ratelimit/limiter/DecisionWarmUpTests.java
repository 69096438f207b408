package io.ratelimit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.StubStore;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DecisionWarmUpTests {

    private final StubStore store = new StubStore();

    @Test
    void someHundredDecisionsAreMade() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        assertThat(new DecisionWarmUp(store).run(Duration.ofMinutes(1))).isEqualTo(450);
        assertThat(store.asked()).hasSize(450);
    }

    @Test
    void itEndsWhenTheTimeIsUp() throws Exception {
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 5));
        AtomicLong seconds = new AtomicLong();
        DecisionWarmUp warmUp = new DecisionWarmUp(
                store, () -> Duration.ofSeconds(seconds.getAndIncrement()).toNanos());
        assertThat(warmUp.run(Duration.ofSeconds(3))).isEqualTo(2 * 9);
        assertThat(warmUp.run(Duration.ZERO)).isZero();
    }

    @Test
    void itEndsWithTheFirstFailure() {
        store.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null));
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> new DecisionWarmUp(store).run(Duration.ofMinutes(1)));
    }
}
