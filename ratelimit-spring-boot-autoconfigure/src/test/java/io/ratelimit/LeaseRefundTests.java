package io.ratelimit;

import static io.ratelimit.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a failed call took goes back to the lease that it was from. */
@Timeout(60)
class LeaseRefundTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void refundOfPermitsFromStockGoesBackToItOnce() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 3 + 1, limit);
        Charge charge = new Charge(limit, "alice", 1);
        RefundableDecisions decided =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        int before = trips.asked().size();
        decided.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        decided.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        instances.take(4, limit);
        assertThat(trips.asked()).hasSize(before);
        assertThat(instances.used(limit)).isEqualTo(11);
        instances.take(1, limit);
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void refundOfALeaseThatIsOverGoesBackToTheStore() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 3, limit);
        Charge charge = new Charge(limit, "alice", 1);
        RefundableDecisions asked =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        RefundableDecisions fromStock =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        store.giveBackAll(Duration.ofSeconds(20));
        assertThat(instances.used(limit)).isEqualTo(8);
        asked.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        assertThat(instances.used(limit))
                .as("the call that took the lease may have opened the window, which goes on")
                .isEqualTo(8);
        fromStock.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        fromStock.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        assertThat(instances.used(limit)).isEqualTo(7);
    }
}
