package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases of at most a thousandth of what the bucket has left. */
class SmallLeaseTests {

    /** As often as the sweep finds a bucket idle in ten seconds. */
    private static final int LOOKS = 20;

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final RateLimit limit = window("quotes", 200_000, 100);

    private static void look(LeasingRateLimitStore store, int times) {
        for (int i = 0; i < times; i++) {
            store.refundIdle();
        }
    }

    @Test
    void secondCallTakesAWholeLease() {
        instances.take(2 + 100 + 1, limit);
        assertThat(instances.trips().asked()).containsExactly("1", "1+100", "1+100");
    }

    @Test
    void leaseThatIsNotSmallBeginsWithOnePermit() {
        instances.take(2, window("quotes", 100_000, 101));
        assertThat(instances.trips().asked()).containsExactly("1", "1+1");
    }

    @Test
    void idleLeaseIsKeptForTenSeconds() {
        instances.take(2, limit);
        look(instances.store(), 1 + LOOKS - 1);
        assertThat(instances.used(limit)).isEqualTo(2 + 100);
        look(instances.store(), 1);
        assertThat(instances.used(limit)).isEqualTo(2);
    }

    @Test
    void keyThatIsUsedAgainWithinTenSecondsNeedsNoTrip() {
        instances.take(2, limit);
        for (int i = 0; i < 10; i++) {
            look(instances.store(), LOOKS - 1);
            instances.take(1, limit);
        }
        assertThat(instances.trips().asked()).hasSize(2);
    }

    @Test
    void leaseOfABucketThatHasLittleLeftIsRefundedSoon() {
        LeasingInstances.take(instances.add(10), limit, 150_000);
        instances.take(2, limit);
        look(instances.store(), 2);
        assertThat(instances.used(limit)).isEqualTo(150_000 + 2);
    }

    @Test
    void leasesAreRefundedSoonWhileThereIsLittleRoomForMoreBuckets() {
        LeasingRateLimitStore small = instances.add(1);
        LeasingInstances.take(small, limit, 1);
        LeasingInstances.take(small, limit, 1);
        look(small, 2);
        assertThat(instances.used(limit)).isEqualTo(2);
    }
}
