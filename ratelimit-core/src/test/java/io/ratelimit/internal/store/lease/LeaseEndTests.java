package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not handed out goes back, or is dropped. */
@Timeout(180)
class LeaseEndTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void idleLeaseGoesBackAndIsForgotten() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, limit);
        assertThat(instances.used(limit)).isEqualTo(20);
        store.refundIdle();
        assertThat(instances.used(limit)).as("used since the last look").isEqualTo(20);
        store.refundIdle();
        assertThat(instances.used(limit)).isEqualTo(12);
        instances.take(1, limit);
        assertThat(trips.asked()).as("from the beginning").endsWith("1+8", "1");
    }

    /** As of the buckets of one server of a cluster. */
    @Test
    void leasesThatCannotBeRefundedStayUsableWhileTheOthersAreRefunded() {
        RateLimit down = window("down", 1_000, 100);
        RateLimit up = window("up", 1_000, 100);
        instances.refundNothingOf(down);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, down);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, up);
        store.refundIdle();
        store.refundIdle();
        assertThat(instances.used(up)).isEqualTo(12);
        assertThat(instances.used(down)).isEqualTo(20);
        int before = trips.asked().size();
        instances.take(8, down);
        assertThat(trips.asked()).as("from the lease").hasSize(before);
    }

    @Test
    void leasesThatCannotBeRefundedWhenTheyEndAreRefundedLater() {
        RateLimit down = window("down", 1_000, 100);
        instances.refundNothingOf(down);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, down);
        store.retire("down");
        store.refundIdle();
        assertThat(instances.used(down)).isEqualTo(20);
        instances.refundAgain();
        store.refundIdle();
        assertThat(instances.used(down)).isEqualTo(12);
    }

    @Test
    void whateverIsLeftGoesBackAtTheEndAndNothingIsLeasedAfterIt() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, limit);
        store.refundAll(Duration.ofSeconds(20));
        assertThat(instances.used(limit)).isEqualTo(12);
        instances.take(5, limit);
        assertThat(instances.used(limit)).isEqualTo(17);
        assertThat(trips.asked()).endsWith("1", "1", "1", "1", "1");
        store.resume();
        instances.take(3, limit);
        assertThat(trips.asked()).endsWith("1", "1+1");
    }

    @Test
    void leaseByThePlanThatAKeyHadBeforeGoesBackWithTheFirstCallByAnother() {
        RateLimit limit = window("quotes", 1_000, 100);
        RateLimit pro = limit.definition().with(RateLimitPlan.named("pro").rate("2000/h"));
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, limit);
        assertThat(instances.used(limit)).isEqualTo(20);
        assertThat(instances.take(pro, 1).allowed()).isTrue();
        assertThat(instances.used(limit)).isEqualTo(13);
        int before = trips.asked().size();
        instances.take(1, limit);
        assertThat(trips.asked()).as("nothing is left of the lease").hasSize(before + 1);
    }

    @Test
    void leaseThatComesAfterTheEndGoesBack() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> call = store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions);
        store.refundAll(Duration.ZERO);
        answer.complete(null);
        assertThat(call.toCompletableFuture()).isCompleted();
        assertThat(instances.used(limit)).isEqualTo(7);
    }

    @Test
    void resetDropsWhatIsLeased() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        assertThat(instances.used(limit)).isZero();
        instances.take(1, limit);
        assertThat(instances.used(limit)).isEqualTo(1);
    }

    static Stream<BucketChange> changesThatEndALease() {
        return Stream.of(BucketChange.block(Duration.ofSeconds(1)), BucketChange.RESET, BucketChange.grant(1_000));
    }

    /** What is leased may be among the permits that come back. */
    @ParameterizedTest
    @MethodSource("changesThatEndALease")
    void changedKeyTakesNothingThatIsLeased(BucketChange change) {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        int before = trips.asked().size();
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before);
        store.change(limit, "alice", change);
        int changed = trips.asked().size();
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(changed + 1);
    }

    /** Such as one that was not sent, because the store is down. */
    @ParameterizedTest
    @MethodSource("changesThatEndALease")
    void changeThatCertainlyFailedEndsNoLease(BucketChange change) {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        trips.fail(true);
        instances.refundNothingOf(limit);
        assertThat(store.change(limit, "alice", change)).isCompletedExceptionally();
        assertThat(store.decide(new Charge(limit, "alice", 1))
                        .await()
                        .decision()
                        .allowed())
                .isTrue();
    }

    /** The operator asks this instance or another. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nothingOfALeaseIsHandedOutAfterABlock(boolean here) {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        List<Charge> charges = List.of(new Charge(limit, "alice", 1));
        StoreOutcome taken = store.decide(StoreRequest.refundable(charges)).await();
        block(limit, here);
        taken.refund().refund(charges).toCompletableFuture().join();
        int before = trips.asked().size();
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leaseThatComesAfterABlockIsNotHandedOut(boolean here) {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        StoreRequest one = StoreRequest.of(List.of(new Charge(limit, "alice", 1)));
        CompletionStage<StoreOutcome> asks = store.decide(one).toStage();
        assertThat(asks.toCompletableFuture()).isNotDone();
        assertThat(trips.asked()).endsWith("1+4");
        block(limit, here);
        answer.complete(null);
        assertThat(asks.toCompletableFuture()).isCompleted();
        int before = trips.asked().size();
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before + 1);
    }

    /** The operator knows no plan of the key. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void blockEndsTheLeaseOfAPlan(boolean here) {
        RateLimit limit = window("quotes", 1_000, 100);
        RateLimit pro = limit.definition().with(RateLimitPlan.named("pro").rate("2000/h"));
        instances.takeSlowly(1 + 2 + 3 + 1, pro);
        block(limit, here);
        int before = trips.asked().size();
        store.decide(new Charge(pro, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before + 1);
    }

    private void block(RateLimit limit, boolean here) {
        BucketChange block = BucketChange.block(Duration.ofMinutes(10));
        if (here) {
            var unused = store.change(limit, "alice", block);
        } else {
            var unused = instances.trips().change(limit, "alice", block);
            store.forget(limit.id(), KeyDigest.of("alice"));
        }
    }

    @Test
    void leaseIsForgottenWhenAnotherInstanceHasChangedTheBucket() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        store.forget(limit.id(), KeyDigest.of("bob"));
        int before = trips.asked().size();
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before);
        store.forget(limit.id(), KeyDigest.of("alice"));
        store.decide(new Charge(limit, "alice", 1)).await();
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void resetDropsWhatIsLeasedUntilTheStoreHasForgotten() {
        RateLimit limit = window("quotes", 1_000, 100);
        trips.beforeReset(() -> instances.takeSlowly(1 + 2 + 3 + 1, limit));
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        assertThat(instances.used(limit)).isZero();
        instances.take(1, limit);
        assertThat(instances.used(limit)).isEqualTo(1);
    }

    @Test
    void leaseThatComesAfterAResetIsDropped() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> call = store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions);
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        answer.complete(null);
        assertThat(call.toCompletableFuture()).isCompleted();
        int before = trips.asked().size();
        instances.take(1, limit);
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void leasesOfAChangedLimitAreRefunded() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 5 + 1, limit);
        store.retire("other");
        assertThat(instances.used(limit)).isGreaterThan(12);
        store.retire("quotes");
        assertThat(instances.used(limit)).isEqualTo(1 + 2 + 3 + 5 + 1);
    }

    @Test
    void limitThatChangesBackHandsOutNothingLeasedBefore() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        store.retire("quotes");
        instances.take(2, limit);
        assertThat(trips.asked()).as("from the beginning").endsWith("1", "1+1");
        assertThat(instances.used(limit)).isEqualTo(7 + 2 + 1);
    }

    @Test
    void leaseThatComesAfterAChangeOfTheLimitGoesBack() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> call = store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions);
        store.retire("quotes");
        answer.complete(null);
        assertThat(call.toCompletableFuture()).isCompleted();
        assertThat(instances.used(limit)).isEqualTo(7);
    }

    @Test
    void changedLimitsLeaveNothingBehind() {
        LeasedBucketRegistry buckets = new LeasedBucketRegistry(1);
        for (int i = 0; i < 1_000; i++) {
            RateLimit former = window("quotes", 1_000, 100);
            assertThat(buckets.of(former, "alice")).isNotNull();
            buckets.retire("quotes", 0);
            assertThat(buckets).hasFieldOrPropertyWithValue("buckets", Map.of());
            // A call that has read the limit before the change.
            assertThat(buckets.of(former, "alice")).isNotNull();
            retireIdle(buckets);
            retireIdle(buckets);
            assertThat(buckets).hasFieldOrPropertyWithValue("buckets", Map.of());
        }
    }

    private static void retireIdle(LeasedBucketRegistry buckets) {
        buckets.all().forEach(bucket -> buckets.retireIfIdle(bucket, 1, false, 0));
    }
}
