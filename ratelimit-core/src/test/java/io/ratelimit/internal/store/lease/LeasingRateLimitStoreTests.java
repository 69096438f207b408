package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.take;
import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an instance takes in advance and hands out. */
@Timeout(180)
class LeasingRateLimitStoreTests {

    private static final long SECOND = 1_000_000;

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void keyThatIsUsedOnceCostsNoLease() {
        for (int i = 0; i < 5; i++) {
            store.decide(StoreRequest.of(List.of(new Charge(window("quotes", 100, 10), "key" + i, 1))))
                    .await();
        }
        assertThat(trips.asked()).containsExactly("1", "1", "1", "1", "1");
    }

    @Test
    void limitWithoutALeaseIsTheStoresAlone() {
        RateLimit limit = TestLimits.fixedWindow("quotes", 100, "100/h");
        instances.take(5, limit);
        assertThat(trips.asked()).containsExactly("1", "1", "1", "1", "1");
    }

    @Test
    void decisionFromStockSaysWhatIsLeftAndWhen() {
        RateLimit limit = window("quotes", 100, 10);
        instances.take(1 + 2 + 1, limit);
        clock.advance(SECOND);
        assertThat(instances.take(limit, 1))
                .isEqualTo(
                        new RateLimitDecision(true, 100, 95, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(3_599)));
    }

    @Test
    void permitsOfATokenBucketAreHandedOutUntilTheyBeginToComeBack() {
        RateLimit limit =
                RateLimit.named("quotes").capacity(100).rate("1/s").lease(10).build();
        instances.take(1 + 2 + 1, limit);
        // Twelve are used then, and the last eight of them are here.
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+8");
        clock.advance(10 * SECOND);
        instances.take(1, limit);
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+8");
        instances.take(1, limit);
        assertThat(trips.asked()).as("the eleventh has begun to come back").hasSize(4);
    }

    /** An instance that has nothing is not told of what others have: that many permits, and no more, it misses. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void noMoreIsKeptFromOthersThanTheLeasesOfTheOthers(LimitKind kind) {
        RateLimit limit = RateLimit.named("quotes")
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .rate("1000/h")
                .lease(16)
                .build();
        clock.set(TestClock.TODAY - TestClock.TODAY % (3_600 * SECOND));
        List<LeasingRateLimitStore> others = List.of(store, instances.add(10), instances.add(10));
        long admitted = 0;
        for (LeasingRateLimitStore other : others) {
            for (int call = 0; call < 50; call++) {
                admitted += take(other, limit, 1).allowed() ? 1 : 0;
            }
        }
        assertThat(admitted).isEqualTo(150);
        long missed = limit.capacity() - admitted;
        while (take(trips, limit, 1).allowed()) {
            missed--;
        }
        assertThat(missed).isPositive().isLessThanOrEqualTo(3 * 16);
        for (LeasingRateLimitStore other : others) {
            while (take(other, limit, 1).allowed()) {
                missed--;
            }
        }
        assertThat(missed).as("handed out in the end").isZero();
    }

    @Test
    void manyThreadsHandOutEachPermitOnce() throws Exception {
        RateLimit limit = window("quotes", 20_000, 100);
        long allowed = ParallelCalls.countAllowed(
                8, 5_000, thread -> () -> instances.take(limit, 1).allowed());
        // The last of them may come back too late for anybody.
        assertThat(allowed).isBetween(19_900L, 20_000L);
        assertThat(trips.asked()).hasSizeLessThan(39_000);
    }

    @Test
    void stockIsHandedOutWhileTheStoreFails() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        trips.fail(true);
        instances.take(4, limit);
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> instances.take(limit, 1));
        trips.fail(false);
        instances.take(1, limit);
    }

    @Test
    void callThatNeedsMoreThanThereIsLeavesNothingBehind() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        assertThat(instances.used(limit)).isEqualTo(11);
        assertThat(instances.take(limit, 7).allowed()).isTrue();
        assertThat(trips.asked()).endsWith("7+8");
        assertThat(instances.used(limit)).isEqualTo(7 + 7 + 8);
    }

    @Test
    void bucketsBeyondTheBoundGoWithoutLeases() {
        LeasingRateLimitStore small = instances.add(1);
        RateLimit limit = window("quotes", 1_000, 100);
        for (String key : List.of("alice", "alice", "bob", "bob", "alice", "bob")) {
            small.decide(new Charge(limit, key, 1)).await();
        }
        assertThat(trips.asked()).containsExactly("1", "1+1", "1", "1", "1");
        small.refundIdle();
        small.refundIdle();
        small.decide(new Charge(limit, "bob", 1)).await();
        small.decide(new Charge(limit, "bob", 1)).await();
        assertThat(trips.asked()).endsWith("1", "1+1");
    }
}
