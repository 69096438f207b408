package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many permits are taken in advance. */
@Timeout(180)
class LeaseGrowthTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void leaseThatLastsForLongIsFollowedByTwiceAsManyUpToWhatIsConfigured() {
        RateLimit limit = window("quotes", 1_000, 10);
        instances.takeSlowly(60, limit);
        assertThat(trips.asked()).startsWith("1", "1+1", "1+2", "1+4", "1+8", "1+10", "1+10");
        assertThat(instances.used(limit)).isBetween(60L, 70L);
    }

    @Test
    void leaseThatIsUsedUpSoonIsFollowedByWhatASecondTakesAtThatSpeed() {
        RateLimit limit = window("quotes", 1_000, 100);
        for (int i = 0; i < 1 + 2 + 6 + 1; i++) {
            clock.advance(Duration.ofMillis(100));
            instances.take(1, limit);
        }
        // One in 200 ms, then five in 600.
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+5", "1+10");
    }

    @Test
    void leaseThatIsUsedUpAtOnceIsFollowedByEightTimesAsMany() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 9 + 65 + 1, limit);
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+8", "1+64", "1+100");
    }

    /** Each call finds the bucket full: a permit that was leased with the call before would be back. */
    @Test
    void keyWhoseCallsAreSlowerThanTheRateGetsLeases() {
        RateLimit limit = bucket("quotes", 1_000);
        for (int i = 0; i < 500; i++) {
            clock.advance(Duration.ofMillis(3));
            instances.take(1, limit);
        }
        assertThat(trips.asked()).startsWith("1", "1+1", "1+8").hasSizeBetween(10, 25);
        assertThat(instances.used(limit)).isLessThan(100);
    }

    @Test
    void slowCallsOfSeveralPermitsGetLeasesToo() {
        RateLimit limit = bucket("pages", 1_000);
        for (int i = 0; i < 500; i++) {
            clock.advance(Duration.ofMillis(9));
            assertThat(instances.take(limit, 3).allowed()).isTrue();
        }
        assertThat(trips.asked()).startsWith("3", "3+3", "3+24").hasSizeBetween(10, 60);
    }

    /** A lease of any size would be back before it is used up. */
    @Test
    void keyThatUsesLittleOfTheRateGetsNoGrowingLeases() {
        RateLimit limit = bucket("reports", 1_000);
        for (int i = 0; i < 6; i++) {
            clock.advance(Duration.ofMillis(30));
            instances.take(1, limit);
        }
        assertThat(trips.asked()).containsExactly("1", "1+1", "1", "1+1", "1", "1+1");
    }

    @Test
    void slowCallsForMoreThanALeaseGetNoGrowingLeases() {
        RateLimit limit = RateLimit.named("archives").rate("1000/s").lease(10).build();
        for (int i = 0; i < 6; i++) {
            clock.advance(Duration.ofMillis(57));
            instances.take(limit, 50);
        }
        assertThat(trips.asked()).containsExactly("50", "50+10", "50", "50", "50+10", "50");
    }

    private static RateLimit bucket(String name, long rate) {
        return RateLimit.named(name).rate(rate + "/s").lease(100).build();
    }

    /** What was not used of a window is its loss: the next one begins with what was. */
    @Test
    void leasesComeDownToWhatWasUsed() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 9 + 3, limit);
        assertThat(trips.asked()).endsWith("1+8", "1+64");
        clock.advance(Duration.ofHours(1));
        instances.take(1, limit);
        assertThat(trips.asked()).endsWith("1+64", "1+2");
    }

    @Test
    void whatWasRefundedToTheLeaseWasNotUsed() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 1 + 2, limit);
        Charge charge = new Charge(limit, "alice", 3);
        StoreOutcome decided = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        decided.refund().refund(List.of(charge)).toCompletableFuture().join();
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+8");
        clock.advance(Duration.ofHours(1));
        instances.take(1, limit);
        assertThat(trips.asked()).endsWith("1+2");
    }
}
