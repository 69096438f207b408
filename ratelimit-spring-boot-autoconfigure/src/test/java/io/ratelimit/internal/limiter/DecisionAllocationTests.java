package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.metrics.ContextMeters;
import io.ratelimit.metrics.StoreMeters;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * How many bytes a decision about one charge allocates: its numbers and little else, whatever stores are around the one that
 * decides. The JIT compiler may save some, and adds none.
 */
@LongRunning
class DecisionAllocationTests {

    private static final int CALLS = 50_000;

    private static final int TIME = 24;

    /** With the time until the bucket is full. */
    private static final int DECISION = 48 + TIME;

    /** What the decision is wrapped in. The JIT compiler saves it in the end, unless several stores are around the one that decides. */
    private static final int OUTCOME = 32;

    /** The new state of a bucket in memory, and what the JIT compiler saves on the way to it. */
    private static final int STATE = 176;

    private final TestClock clock = new TestClock();

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void stop() {
        thread.shutdownNow();
    }

    @Test
    void inMemoryItIsTheDecisionAndTheStateOfTheBucket() {
        RateLimitStore store = new InMemoryRateLimitStore(clock, 100);
        RateLimit plenty = TestLimits.tokenBucket("plenty", 1_000_000, "1/s");
        assertThat(bytes(store, plenty)).isLessThanOrEqualTo(DECISION + STATE + OUTCOME);
        RateLimitStore timed = new StoreMeters(new ContextMeters(new SimpleMeterRegistry()), limit -> {})
                .timed(store, "in_memory", null);
        assertThat(bytes(timed, plenty)).isLessThanOrEqualTo(DECISION + STATE + OUTCOME);
        assertThat(bytes(timed, TestLimits.tokenBucket("one", 1, "1/d")))
                .isLessThanOrEqualTo(DECISION + STATE + OUTCOME + TIME);
    }

    @Test
    void cachedRejectionIsTheDecision() {
        RateLimitStore store = stores(new InMemoryRateLimitStore(clock, 100));
        assertThat(bytes(store, TestLimits.tokenBucket("one", 1, "1/d")))
                .isLessThanOrEqualTo(DECISION + TIME + OUTCOME);
    }

    @Test
    void leasedPermitIsTheDecision() {
        RateLimit leased = RateLimit.named("leased")
                .capacity(1_000_000)
                .rate("1000000/d")
                .lease(500_000)
                .build();
        assertThat(bytes(stores(new ExactLeaseStore(clock)), leased)).isLessThanOrEqualTo(DECISION + OUTCOME);
    }

    /** As with Redis. */
    private RateLimitStore stores(RateLimitStore store) {
        return new FailoverRateLimitStore(
                new LeasingRateLimitStore(
                        new RejectionCachingRateLimitStore(store),
                        Duration.ofSeconds(1),
                        () -> 0,
                        thread,
                        Runnable::run,
                        100),
                store);
    }

    private static long bytes(RateLimitStore store, RateLimit limit) {
        RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, new RecordingWaiter());
        Charge charge = new Charge(limit, "alice", 1);
        return bytes(() -> gate.decide(charge));
    }

    /**
     * Returns what a call allocates, in the best of some rounds: the first one loads classes and takes the permits that are
     * there, and on a busy machine a lease may end in any of them.
     */
    private static long bytes(Runnable call) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            best = Math.min(best, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return best / CALLS;
    }
}
