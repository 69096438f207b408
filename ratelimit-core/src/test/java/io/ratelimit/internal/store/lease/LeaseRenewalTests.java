package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The next lease of a hot key is asked for before the present one is used up. A round trip takes a millisecond. */
@Timeout(180)
class LeaseRenewalTests {

    private static final Duration ROUND_TRIP = Duration.ofMillis(1);

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    private final RateLimit limit = limit(Algorithm.SLIDING_WINDOW);

    private final List<CompletableFuture<StoreOutcome>> calls = new ArrayList<>();

    private static RateLimit limit(Algorithm algorithm) {
        return RateLimit.named("quotes")
                .algorithm(algorithm)
                .rate("1000/h")
                .lease(20)
                .build();
    }

    private CompletableFuture<StoreOutcome> call(RateLimit limit) {
        CompletableFuture<StoreOutcome> call = instances
                .store()
                .decide(new Charge(limit, "alice", 1))
                .toStage()
                .toCompletableFuture();
        calls.add(call);
        return call;
    }

    private void answer(CompletableFuture<Void> held) {
        clock.advance(ROUND_TRIP);
        held.complete(null);
    }

    /** A lease of 20 has come after a round trip, and the call that asked for it was decided. */
    private void leaseTwenty() {
        leaseTwenty(limit);
    }

    private void leaseTwenty(RateLimit limit) {
        instances.take(1 + 2 + 9, limit);
        CompletableFuture<Void> held = trips.hold();
        CompletableFuture<StoreOutcome> asks = call(limit);
        answer(held);
        assertThat(asks).isCompleted();
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+8", "1+20");
    }

    @Test
    void permitsThatAreUsedUpWithinARoundTripAreFollowedByTheNextLeaseInTime() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(9, limit);
        assertThat(trips.asked()).hasSize(4);
        instances.take(1, limit);
        assertThat(trips.asked()).endsWith("1+20", "0+20");
        instances.take(10, limit);
        answer(renewal);
        instances.take(9, limit);
        assertThat(trips.asked()).hasSize(5);
    }

    @Test
    void whatIsLeftIsUsedBeforeTheLeaseThatHasCome() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(10, limit);
        answer(renewal);
        assertThat(instances.used(limit)).as("with both leases").isEqualTo(13 + 20 + 20);
        instances.take(10 + 9, limit);
        assertThat(trips.asked()).hasSize(5);
        assertThat(instances.used(limit)).isEqualTo(13 + 20 + 20);
    }

    @Test
    void permitsThatLastAreNotRenewed() {
        leaseTwenty();
        for (int i = 0; i < 20; i++) {
            clock.advance(ROUND_TRIP.multipliedBy(3));
            instances.take(1, limit);
        }
        assertThat(trips.asked()).hasSize(4);
    }

    /** The period would begin with the renewal, and not with a call. */
    @Test
    void limitWhosePeriodsStartWithACallIsNotRenewed() {
        RateLimit window = limit(Algorithm.FIXED_WINDOW);
        leaseTwenty(window);
        instances.take(20, window);
        assertThat(trips.asked()).hasSize(4);
    }

    @Test
    void speedIsLookedAtAgainWhenFewerAreLeft() {
        leaseTwenty();
        for (int i = 0; i < 10; i++) {
            clock.advance(ROUND_TRIP.dividedBy(2));
            instances.take(1, limit);
        }
        assertThat(trips.asked()).hasSize(4);
        instances.take(5, limit);
        assertThat(trips.asked()).endsWith("1+20", "0+20");
    }

    @Test
    void callsThatWaitForARenewalAreServedAndTheNextLeaseIsAskedForAtOnce() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(20, limit);
        calls.clear();
        Stream.generate(() -> call(limit))
                .limit(15)
                .forEach(call -> assertThat(call).isNotDone());
        answer(renewal);
        assertThat(calls).allMatch(CompletableFuture::isDone);
        assertThat(trips.asked()).endsWith("1+20", "0+20", "0+20");
    }

    @Test
    void renewalThatFailsIsMadeUpForByTheNextCallThatFindsNothing() {
        leaseTwenty();
        trips.fail(true);
        instances.take(20, limit);
        trips.fail(false);
        assertThat(trips.asked()).hasSize(4);
        instances.take(1, limit);
        assertThat(trips.asked()).endsWith("1+20", "1+20");
    }

    @Test
    void idleBucketRefundsBothLeases() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(12, limit);
        answer(renewal);
        instances.store().refundIdle();
        instances.store().refundIdle();
        assertThat(instances.used(limit)).isEqualTo(1 + 2 + 9 + 1 + 12);
    }

    @Test
    void callForMorePermitsThanAreLeftRefundsThemAndTakesFromTheNextLease() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(18, limit);
        answer(renewal);
        assertThat(instances.take(limit, 3).allowed()).isTrue();
        assertThat(trips.asked()).hasSize(5);
        assertThat(instances.used(limit)).isEqualTo(1 + 2 + 9 + 1 + 18 + 20);
    }

    @Test
    void resetDropsBothLeases() {
        leaseTwenty();
        CompletableFuture<Void> renewal = trips.hold();
        instances.take(12, limit);
        answer(renewal);
        instances
                .store()
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        instances.take(1, limit);
        assertThat(trips.asked()).as("the store decides").hasSizeGreaterThan(5);
    }
}
