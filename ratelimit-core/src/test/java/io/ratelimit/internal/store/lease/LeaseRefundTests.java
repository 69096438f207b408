package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a call took that does not take place goes back to the lease that it was from. */
@Timeout(180)
class LeaseRefundTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    @Test
    void refundOfPermitsFromStockGoesBackToItOnce() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3 + 1, limit);
        Charge charge = new Charge(limit, "alice", 1);
        StoreOutcome decided = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        int before = trips.asked().size();
        decided.refund().refund(List.of(charge)).toCompletableFuture().join();
        decided.refund().refund(List.of(charge)).toCompletableFuture().join();
        instances.take(4, limit);
        assertThat(trips.asked()).hasSize(before);
        assertThat(instances.used(limit)).isEqualTo(11);
        instances.take(1, limit);
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void refundOfALeaseThatIsOverGoesBackToTheStore() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        Charge charge = new Charge(limit, "alice", 1);
        instances.take(1, limit);
        StoreOutcome fromStock = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        store.refundAll(Duration.ofSeconds(20));
        assertThat(instances.used(limit)).isEqualTo(8);
        fromStock.refund().refund(List.of(charge)).toCompletableFuture().join();
        fromStock.refund().refund(List.of(charge)).toCompletableFuture().join();
        assertThat(instances.used(limit)).isEqualTo(7);
    }

    /** Another store may reject the call, and what the call that brings a lease has taken stays. */
    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "TOKEN_BUCKET_BY_INTERVALS", "TOKEN_BUCKET", "SLIDING_WINDOW"})
    void callThatMayBeRefundedTakesNoLease(LimitKind kind) {
        RateLimit limit = RateLimit.named("quotes")
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .rate("10/h")
                .lease(5)
                .build();
        List<Charge> charges = List.of(new Charge(limit, "alice", 1));
        for (int i = 0; i < 20; i++) {
            StoreOutcome decided = store.decide(StoreRequest.refundable(charges))
                    .toStage()
                    .toCompletableFuture()
                    .join();
            assertThat(decided.decision().allowed()).isTrue();
            decided.refund().refund(charges).toCompletableFuture().join();
        }
        assertThat(trips.asked()).containsOnly("1");
        assertThat(instances.used(limit)).isZero();
    }

    private static long admitted(RateLimitStore instance, RateLimit limit) {
        long admitted = 0;
        while (LeasingInstances.take(instance, limit, 1).allowed()) {
            admitted++;
        }
        return admitted;
    }

    /** What was taken first is back first, and what others have taken since counts for them. */
    @Test
    void permitsOfATokenBucketThatAreBackByThemselvesAreNotHandedOutAgain() {
        Refunded refunded = refundLate();
        assertThat(refunded.admitted + admitted(instances.add(10), refunded.limit))
                .as("at one moment")
                .isLessThanOrEqualTo(refunded.limit.capacity());
    }

    @Test
    void permitsOfATokenBucketThatAreBackByThemselvesAreNotRefundedWhenTheLeaseIsOver() {
        Refunded refunded = refundLate(store);
        assertThat(refunded.admitted + admitted(instances.add(10), refunded.limit))
                .as("at one moment")
                .isLessThanOrEqualTo(refunded.limit.capacity());
    }

    /** A call takes half of a lease. When only the other half still counts, another takes that; then the first is undone. */
    private Refunded refundLate(LeasingRateLimitStore... closed) {
        RateLimit limit = RateLimit.named("quotes")
                .capacity(1_000)
                .rate("10/s")
                .lease(100)
                .build();
        int half = 8;
        instances.take(1 + (1 + 1) + (1 + 8) + 1, limit);
        assertThat(trips.asked()).last().isEqualTo("1+64");
        List<Charge> first = List.of(new Charge(limit, "alice", 64 - half));
        StoreOutcome decided = store.decide(StoreRequest.refundable(first))
                .toStage()
                .toCompletableFuture()
                .join();
        clock.advance(Duration.ofMillis(100 * (instances.used(limit) - half) - 2));
        assertThat(instances.take(limit, half).allowed()).isTrue();
        for (LeasingRateLimitStore instance : closed) {
            instance.refundAll(Duration.ofSeconds(20));
        }
        decided.refund().refund(first).toCompletableFuture().join();
        long admitted = half;
        for (int i = 0; i < half; i++) {
            admitted += instances.take(limit, 1).allowed() ? 1 : 0;
        }
        return new Refunded(limit, admitted);
    }

    private record Refunded(RateLimit limit, long admitted) {}

    @Test
    void permitsOfATokenBucketGoBackToTheLeaseTheyAreFrom() {
        RateLimit limit = RateLimit.named("quotes")
                .capacity(1_000)
                .rate("10/h")
                .lease(100)
                .build();
        List<Charge> charges = List.of(new Charge(limit, "alice", 1));
        for (String way : List.of("by the store", "from the lease", "what is back in the lease")) {
            if (way.equals("from the lease")) {
                instances.take(2, limit);
            }
            clock.advance(Duration.ofSeconds(1));
            long before = instances.used(limit);
            StoreOutcome decided = store.decide(StoreRequest.refundable(charges))
                    .toStage()
                    .toCompletableFuture()
                    .join();
            long after = instances.used(limit);
            decided.refund().refund(charges).toCompletableFuture().join();
            assertThat(instances.used(limit)).as(way).isEqualTo(way.equals("by the store") ? before : after);
        }
        assertThat(trips.asked()).endsWith("1", "1+1");
    }
}
