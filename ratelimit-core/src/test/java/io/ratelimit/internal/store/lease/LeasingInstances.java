package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Instances with leases, over one store and by one clock. */
public final class LeasingInstances implements AfterEachCallback {

    static final Duration TIMEOUT = Duration.ofMillis(100);

    private final TestClock clock = new TestClock();

    private final ExactLeaseStore exact = new ExactLeaseStore(clock);

    private final TrippingStore trips = new TrippingStore(exact);

    private final LeaseThread thread = new LeaseThread(clock);

    private final List<LeasingRateLimitStore> instances = new ArrayList<>();

    private final LeasingRateLimitStore store = add(10);

    public static RateLimit window(String name, long capacity, long lease) {
        return RateLimit.named(name)
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate(capacity + "/h")
                .lease(lease)
                .build();
    }

    public static RateLimitDecision take(RateLimitStore from, RateLimit limit, long permits) {
        return from.decide(new Charge(limit, "alice", permits)).await().decision();
    }

    public TestClock clock() {
        return clock;
    }

    /** What all of them ask. */
    public TrippingStore trips() {
        return trips;
    }

    LeaseThread thread() {
        return thread;
    }

    /** The first of them. */
    public LeasingRateLimitStore store() {
        return store;
    }

    public LeasingRateLimitStore add(int mostBuckets) {
        LeasingRateLimitStore added = new LeasingRateLimitStore(
                trips, TIMEOUT, () -> clock.micros() * 1_000, thread, Runnable::run, mostBuckets);
        instances.add(added);
        return added;
    }

    public RateLimitDecision take(RateLimit limit, long permits) {
        return take(store, limit, permits);
    }

    /** As if the server of the limit's buckets failed. Decisions go on. */
    void refundNothingOf(RateLimit limit) {
        exact.unavailable(limit);
    }

    void refundAgain() {
        exact.unavailable(null);
    }

    /** Calls that are all allowed. */
    public void take(int calls, RateLimit limit) {
        for (int i = 0; i < calls; i++) {
            assertThat(take(limit, 1).allowed()).isTrue();
        }
    }

    /** Each of them so long after the last that the next lease is but twice as large. */
    public void takeSlowly(int calls, RateLimit limit) {
        for (int i = 0; i < calls; i++) {
            clock.advance(Duration.ofSeconds(1));
            take(1, limit);
        }
    }

    /** What the store takes to be used. */
    public long used(RateLimit limit) {
        return limit.capacity()
                - trips.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        instances.forEach(LeasingRateLimitStore::close);
    }
}
