package io.ratelimit.redis.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits that calls hold in several slots of a cluster. */
class CrossSlotPermitTests extends TwoInstances {

    @Test
    void slotsAreRenewedSideBySide() {
        one.topology = RedisTopology.UNKNOWN_CLUSTER;
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 300).forEach(i -> one.enter(new Charge(many, "key-" + i, 1)));
        one.scripts.clear();
        one.slow = true;
        one.pass(THIRD);
        List<Integer> turns = new ArrayList<>();
        while (one.waiting() > 0) {
            turns.add(one.waiting());
            one.answer();
        }
        assertThat(turns.subList(0, turns.size() - 1)).containsOnly(PermitRenewals.AT_A_TIME);
        assertThat(one.scripts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(300);
        assertThat(one.scripts.size())
                .isEqualTo(turns.stream().mapToInt(Integer::intValue).sum());
    }

    /** Charges two slots of a cluster, one after the other. The script for the second one is on its way. */
    private CompletableFuture<StoreOutcome> enterTwoSlots() {
        one.topology = RedisTopology.UNKNOWN_CLUSTER;
        one.slow = true;
        CompletableFuture<StoreOutcome> call = one.store
                .decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", 2), new Charge(limit, "bob", 2))))
                .toStage()
                .toCompletableFuture();
        // Both looks, then the first charge.
        one.answer();
        one.answer();
        assertThat(one.waiting()).isEqualTo(1);
        return call;
    }

    private long free(String key) {
        return other.store
                .decide(StoreRequest.peek(new Charge(limit, key, 0)))
                .await()
                .decision()
                .remaining();
    }

    @Test
    void permitsOfAnEarlierSlotAreReleasedIfALaterOneRejectsTheCall() {
        CompletableFuture<StoreOutcome> call = enterTwoSlots();
        StoreOutcome others = other.enter(new Charge(limit, free("alice") == 0 ? "bob" : "alice", 2));
        one.answer();
        one.answer();
        assertThat(call).isCompletedWithValueMatching(StoreOutcome::isRejected);
        assertThat(one.store.heldPermits(limit)).isZero();
        release(others);
        assertThat(List.of(free("alice"), free("bob"))).containsExactly(2L, 2L);
    }

    /** The call is decided once more, key by key. */
    @Test
    void callWhoseKeysComeApartHoldsItsPermitsOnce() {
        CompletableFuture<StoreOutcome> call = enterTwoSlots();
        one.error = "TRYAGAIN Multiple keys request during rehashing of slot";
        one.slow = false;
        one.answer();
        assertThat(call).isCompletedWithValueMatching(outcome -> !outcome.isRejected());
        assertThat(one.store.heldPermits(limit)).isEqualTo(4);
        for (int i = 0; i < 6; i++) {
            one.pass(THIRD);
            assertThat(List.of(free("alice"), free("bob"))).containsExactly(0L, 0L);
        }
        release(call.join());
        assertThat(one.store.heldPermits(limit)).isZero();
        assertThat(List.of(free("alice"), free("bob"))).containsExactly(2L, 2L);
    }

    /** A slot can stay open for hours, with one of its keys on the other node. */
    @Test
    void bucketsOfASlotThatComeApartAreRenewedOneByOne() {
        enter(one, "alice");
        one.enter(new Charge(TestLimits.concurrency("uploads", 2), "alice", 1));
        one.scripts.clear();
        one.error = "TRYAGAIN Multiple keys request during rehashing of slot";
        one.slow = true;
        one.pass(THIRD);
        one.answer();
        assertThat(one.scripts).containsExactly(2, 1, 1);
    }

    /** More slots than a stack has room for. */
    @LongRunning
    @Test
    void manySlotsThatCannotBeReachedAreTriedAgain() {
        one.topology = RedisTopology.UNKNOWN_CLUSTER;
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 3_000).forEach(i -> one.enter(new Charge(many, "key-" + i, 1)));
        one.unreachable = true;
        one.pass(THIRD);
        one.unreachable = false;
        one.scripts.clear();
        one.pass(Duration.ofMillis(500));
        assertThat(one.scripts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(3_000);
    }
}
