package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AcquireTests {

    private static final RateLimitDecision LATER = RateLimitDecision.ofMicros(1, 0, 250_000, 0, 1_000_000);

    private final StubStore store = new StubStore();

    private final RecordingWaiter waiter = new RecordingWaiter();

    private final List<String> heard = new ArrayList<>();

    private final RateLimitStoreException trouble = new RateLimitStoreException(Reason.TIMEOUT, "no answer", null);

    @Test
    void waitsOnceForTheDelayOfItsOnePermit() {
        store.answer(LATER);
        RateLimit quotes = TestLimits.tokenBucket("quotes", 1, "1/h");
        limiter(quotes, store).acquire("alice");
        assertThat(waiter.delays()).containsExactly(Duration.ofMillis(250));
        assertThat(store.asked()).containsExactly(List.of(new Charge(quotes, "alice", 1)));
        assertThat(heard).containsExactly("quotes ALLOWED");
    }

    @Test
    void askingAndPeekingTellTheDelayAndDoNotWait() {
        store.answer(LATER);
        RateLimiter limiter = limiter(TestLimits.tokenBucket("quotes", 1, "1/h"), store);
        assertThat(limiter.tryAcquire("alice")).isEqualTo(LATER);
        assertThat(limiter.tryAcquireAsync("alice", 1).toCompletableFuture().join())
                .isEqualTo(LATER);
        assertThat(limiter.peek("alice")).isEqualTo(LATER);
        assertThat(waiter.delays()).isEmpty();
        assertThat(heard).containsExactly("quotes ALLOWED", "quotes ALLOWED");
    }

    @Test
    void dryRunNeitherRejectsNorDelays() {
        RateLimiter limiter = limiter(TestLimits.dryRun(TestLimits.tokenBucket("trial", 1, "1/h")), store);
        store.answer(LATER);
        limiter.acquire("alice");
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 5, 5));
        limiter.acquire("alice");
        assertThat(waiter.delays()).isEmpty();
        assertThat(heard).containsExactly("trial ALLOWED", "trial DRY_RUN_REJECTED");
    }

    @Test
    void disabledLimitIsNotAsked() {
        LimitConfiguration off = LimitConfiguration.of("off").with(LimitAttributes.ENABLED, false);
        RateLimiter limiter = limiter(
                TestSettings.of(false, OnStoreFailure.LOCAL, Map.of("off", off))
                        .apply(TestLimits.tokenBucket("off", 1, "1/h")),
                store);
        limiter.acquire("alice");
        limiter.acquire("alice");
        assertThat(store.asked()).isEmpty();
        assertThat(heard).isEmpty();
    }

    @Test
    void localLimitsWhileTheStoreFails() {
        RateLimiter limiter = failing(OnStoreFailure.LOCAL);
        limiter.acquire("alice");
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> limiter.acquire("alice"));
        assertThat(heard).containsExactly("quotes ALLOWED", "quotes REJECTED");
    }

    @Test
    void localDelaysWhileTheStoreFails() {
        StubStore local = new StubStore();
        local.answer(LATER);
        store.fail(trouble);
        limiter(TestLimits.failingBy(OnStoreFailure.LOCAL, "quotes"), new FailoverRateLimitStore(store, local))
                .acquire("alice");
        assertThat(waiter.delays()).containsExactly(Duration.ofMillis(250));
    }

    @Test
    void allowLetsPassWhileTheStoreFails() {
        RateLimiter limiter = failing(OnStoreFailure.ALLOW);
        limiter.acquire("alice");
        limiter.acquire("alice");
        assertThat(waiter.delays()).isEmpty();
        assertThat(heard).containsExactly("quotes ALLOWED", "quotes ALLOWED");
    }

    @Test
    void rejectRefusesWhileTheStoreFails() {
        RateLimiter limiter = failing(OnStoreFailure.REJECT);
        assertThat(catchThrowable(() -> limiter.acquire("alice")))
                .isInstanceOf(RateLimitRefusedException.class)
                .hasCause(trouble);
        assertThat(heard).isEmpty();
    }

    @Test
    void throwLeavesItToTheApplication() {
        RateLimiter limiter = failing(OnStoreFailure.THROW);
        assertThat(catchThrowable(() -> limiter.acquire("alice"))).isSameAs(trouble);
        assertThat(heard).isEmpty();
    }

    private RateLimiter failing(OnStoreFailure policy) {
        store.fail(trouble);
        return limiter(
                TestLimits.failingBy(policy, "quotes"),
                new FailoverRateLimitStore(store, new InMemoryRateLimitStore(new TestClock(), 100)));
    }

    private RateLimiter limiter(RateLimit limit, RateLimitStore store) {
        RateLimitListener listener =
                (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome);
        return new StoreRateLimiter(
                limit.name(), name -> new EffectiveLimit(limit), new RateLimitGate(store, listener, waiter));
    }
}
