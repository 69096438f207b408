package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A call of several limits. Some have leases. */
@Timeout(180)
class LeasesOfSeveralLimitsTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void severalLimitsAreTakenFromStockTogether() {
        RateLimit one = window("one", 1_000, 100);
        RateLimit other = window("other", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, one);
        instances.takeSlowly(1 + 2 + 3 + 1, other);
        int before = trips.asked().size();
        List<Charge> both = List.of(new Charge(one, "alice", 1), new Charge(other, "alice", 2));
        assertThat(store.decide(StoreRequest.of(both)).await().decisions())
                .extracting(RateLimitDecision::remaining)
                .containsExactly(1_000L - 8, 1_000L - 9);
        assertThat(trips.asked()).hasSize(before);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.decide(
                                StoreRequest.of(List.of(new Charge(one, "alice", 1), new Charge(one, "alice", 2))))
                        .await()
                        .decisions());
    }

    @Test
    void whatOneLimitHasTakenFromStockGoesBackToItIfAnotherRejects() {
        RateLimit leased = window("leased", 1_000, 100);
        RateLimit tight = TestLimits.fixedWindow("tight", 1, "1/h");
        instances.takeSlowly(1 + 2 + 3 + 1, leased);
        RateLimit leasedTrial = dryRun();
        instances.takeSlowly(1 + 2 + 3 + 1, leasedTrial);
        List<Charge> all = List.of(
                new Charge(leased, "alice", 1), new Charge(leasedTrial, "alice", 1), new Charge(tight, "alice", 1));
        assertThat(store.decide(StoreRequest.of(all)).await().decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, true, true);
        assertThat(store.decide(StoreRequest.of(all)).await().decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, true, false);
        store.refundAll(Duration.ofSeconds(20));
        assertThat(instances.used(leased)).isEqualTo(7 + 1);
        assertThat(instances.used(leasedTrial)).as("in dry run").isEqualTo(7 + 2);
    }

    @Test
    void whatWasTakenFromStockGoesBackToItIfTheStoreFails() {
        RateLimit leased = window("leased", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, leased);
        trips.fail(true);
        List<Charge> both = List.of(
                new Charge(leased, "alice", 1), new Charge(TestLimits.fixedWindow("other", 1, "1/h"), "alice", 1));
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(StoreRequest.of(both)).await().decisions());
        trips.fail(false);
        store.refundAll(Duration.ofSeconds(20));
        assertThat(instances.used(leased)).isEqualTo(7);
    }

    /** They take no leases, and there is room for so many keys. */
    @Test
    void callsThatMayBeRefundedLeaveTheRoomForLeasesToOthers() {
        RateLimit leased = window("leased", 1_000, 100);
        for (int i = 0; i < 20; i++) {
            store.decide(StoreRequest.refundable(List.of(new Charge(leased, "user" + i, 1))))
                    .await();
        }
        instances.takeSlowly(1 + 2 + 3 + 1, leased);
        assertThat(store.leased(leased.id())).isPositive();
    }

    private static RateLimit dryRun() {
        return TestSettings.of(true, OnStoreFailure.LOCAL, Map.of())
                .apply(RateLimit.named("trial")
                        .algorithm(Algorithm.FIXED_WINDOW)
                        .rate("1000/h")
                        .lease(100));
    }
}
