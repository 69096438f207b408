package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The clock is read before a bucket is held: others may be faster, and that is no clock that goes back. */
@Timeout(180)
class ClockReadingTests {

    private static final int THREADS = 8;

    private static final int CALLS = 20_000;

    private final TestClock clock = new TestClock();

    /** After the next reading, so that others can come in between. */
    private Runnable meanwhile = () -> {};

    private final RateLimitStore store = new InMemoryRateLimitStore(this::read, 1_000);

    @Test
    void whoIsOvertakenReadsTheClockAgain() {
        RateLimit two = TestLimits.fixedWindow("two", 2, "2/s");
        take(store, two, 1);
        clock.advance(Duration.ofSeconds(10));
        meanwhile = () -> {
            clock.advance(100);
            take(store, two, 2);
            clock.advance(10);
        };
        RateLimitDecision overtaken = take(store, two, 1);
        assertThat(overtaken.allowed()).isFalse();
        assertThat(overtaken.retryAfter()).isEqualTo(Duration.ofSeconds(1).minusNanos(10_000));
        clock.advance(-5);
        assertThat(take(store, two, 1).retryAfter())
                .isEqualTo(Duration.ofSeconds(1).minusNanos(5_000));
    }

    @Test
    void whoIsOvertakenByTheFirstReadsTheClockAgain() {
        RateLimit two = TestLimits.tokenBucket("two", 2, "1/s");
        meanwhile = () -> {
            clock.advance(100);
            take(store, two, 2);
            clock.advance(10);
        };
        RateLimitDecision overtaken = take(store, two, 1);
        assertThat(overtaken.retryAfter()).isEqualTo(Duration.ofSeconds(1).minusNanos(10_000));
    }

    /** Each reading is a microsecond later, and there are more than enough calls for what comes back. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "LEAKY_BUCKET"})
    void threadsOnOneBucketAreAdmittedAsTimeGoesOn(Algorithm algorithm) throws Exception {
        AtomicLong readings = new AtomicLong(TestClock.TODAY);
        RateLimitStore ticking = new InMemoryRateLimitStore(readings::incrementAndGet, 1_000);
        RateLimit limit = RateLimit.named("hot")
                .algorithm(algorithm)
                .capacity(10)
                .rate("100000/s")
                .build();
        long allowed = ParallelCalls.countAllowed(
                THREADS, CALLS, thread -> () -> take(ticking, limit, 1).allowed());
        long elapsed = readings.get() - TestClock.TODAY;
        // The first to be decided may not have been the first to read the clock.
        assertThat(allowed).isBetween(10 + elapsed / 10 - THREADS, 10 + elapsed / 10);
    }

    private long read() {
        long now = clock.micros();
        Runnable others = meanwhile;
        meanwhile = () -> {};
        others.run();
        return now;
    }

    private static RateLimitDecision take(RateLimitStore store, RateLimit limit, long permits) {
        return store.decide(new Charge(limit, "key", permits)).await().decision();
    }
}
