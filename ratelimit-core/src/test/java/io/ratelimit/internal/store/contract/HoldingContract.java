package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.concurrency;
import static io.ratelimit.testing.TestLimits.dryRun;
import static io.ratelimit.testing.TestLimits.fixedWindow;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A call holds the permits of a concurrency limit until its refund. */
public abstract class HoldingContract extends StoreContract {

    private static final Duration UNKNOWN = Duration.ofSeconds(1);

    private final RateLimit two = concurrency("two", 2);

    private final RateLimit once = fixedWindow("once", 1, "1/h");

    private StoreOutcome enter(Charge... charges) {
        return store.decide(StoreRequest.refundable(List.of(charges))).await();
    }

    private static Charge one(RateLimit limit) {
        return new Charge(limit, KEY, 1);
    }

    private static void release(StoreOutcome outcome) {
        outcome.refund().refund(outcome.charges()).toCompletableFuture().join();
    }

    @Test
    void callsAreAdmittedUpToTheCapacityAndAfterEachRelease() {
        StoreOutcome first = enter(one(two));
        assertThat(first.decision()).isEqualTo(allowed(2, 1, UNKNOWN));
        assertThat(enter(one(two)).decision()).isEqualTo(allowed(2, 0, UNKNOWN));
        assertThat(enter(one(two)).decision()).isEqualTo(rejected(2, 0, UNKNOWN, UNKNOWN));
        clock.advance(HOUR);
        release(first);
        assertThat(remaining(two)).isGreaterThanOrEqualTo(1);
    }

    @Test
    void releasesOnce() {
        StoreOutcome first = enter(one(two));
        enter(one(two));
        release(first);
        release(first);
        assertThat(remaining(two)).isEqualTo(1);
    }

    @Test
    void isUnusedAfterTheLastRelease() {
        release(enter(one(two)));
        assertThat(peek(two, 1)).isEqualTo(allowed(2, 2, Duration.ZERO));
    }

    @Test
    void rejectedCallHoldsNothing() {
        enter(one(two));
        enter(one(two));
        release(enter(one(two)));
        assertThat(remaining(two)).isZero();
    }

    @Test
    void takesAllPermitsOrNone() {
        RateLimit ten = concurrency("ten", 10);
        StoreOutcome seven = enter(new Charge(ten, KEY, 7));
        assertThat(enter(new Charge(ten, KEY, 4)).decision()).isEqualTo(rejected(10, 3, UNKNOWN, UNKNOWN));
        assertThat(enter(new Charge(ten, KEY, 3)).decision()).isEqualTo(allowed(10, 0, UNKNOWN));
        release(seven);
        assertThat(remaining(ten)).isEqualTo(7);
    }

    @Test
    void neverSucceedsForMoreThanTheCapacity() {
        assertThat(enter(new Charge(two, KEY, 3)).decision()).isEqualTo(rejected(2, 2, null, Duration.ZERO));
        enter(one(two));
        assertThat(enter(new Charge(two, KEY, 3)).decision()).isEqualTo(rejected(2, 1, null, UNKNOWN));
    }

    @Test
    void freeCallHoldsNothingAndIsAllowed() {
        enter(new Charge(two, KEY, 2));
        assertThat(enter(new Charge(two, KEY, 0)).decision()).isEqualTo(allowed(2, 0, UNKNOWN));
    }

    @Test
    void keysAndLimitsAreCountedApart() {
        enter(new Charge(two, KEY, 2));
        assertThat(enter(new Charge(two, "bob", 2)).decision().allowed()).isTrue();
        assertThat(enter(new Charge(two, null, 2)).decision().allowed()).isTrue();
        assertThat(enter(new Charge(concurrency("other", 2), KEY, 2)).decision().allowed())
                .isTrue();
    }

    @Test
    void rateThatRejectsKeepsThePermitsFree() {
        enter(one(once));
        StoreOutcome outcome = enter(one(two), one(once));
        assertThat(outcome.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false);
        assertThat(outcome.decision()).isEqualTo(allowed(2, 2, Duration.ZERO));
        assertThat(remaining(two)).isEqualTo(2);
        release(outcome);
        assertThat(remaining(two)).isEqualTo(2);
    }

    @Test
    void concurrencyThatRejectsKeepsTheRateFree() {
        enter(new Charge(two, KEY, 2));
        StoreOutcome outcome = enter(one(once), one(two));
        assertThat(outcome.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false);
        assertThat(remaining(once)).isEqualTo(1);
    }

    @Test
    void allOfACallAreReleasedOrRefundedApart() {
        StoreOutcome outcome = enter(one(once), one(two));
        outcome.refund().refund(List.of(one(two))).toCompletableFuture().join();
        assertThat(remaining(two)).isEqualTo(2);
        assertThat(remaining(once)).isZero();
        release(outcome);
        assertThat(remaining(once)).isEqualTo(1);
        assertThat(remaining(two)).isEqualTo(2);
    }

    @Test
    void dryRunHoldsWhateverOthersDecide() {
        RateLimit trial = dryRun(two);
        enter(one(once));
        StoreOutcome outcome = enter(one(trial), one(once));
        assertThat(remaining(two)).isEqualTo(1);
        release(outcome);
        assertThat(remaining(two)).isEqualTo(2);
        enter(new Charge(two, KEY, 2));
        assertThat(enter(one(trial), one(concurrency("other", 2))).isRejected()).isFalse();
        assertThat(remaining(concurrency("other", 2))).isEqualTo(1);
    }

    @Test
    void anotherCapacityCountsTheSamePermits() {
        StoreOutcome first = enter(new Charge(two, KEY, 2));
        assertThat(enter(one(concurrency("two", 3))).decision()).isEqualTo(allowed(3, 0, UNKNOWN));
        assertThat(enter(one(concurrency("two", 1))).decision()).isEqualTo(rejected(1, 0, UNKNOWN, UNKNOWN));
        release(first);
        assertThat(remaining(concurrency("two", 3))).isEqualTo(2);
        assertThat(remaining(concurrency("two", 1))).isZero();
    }

    @Test
    void anotherAlgorithmCountsOnItsOwn() {
        StoreOutcome outcome = enter(new Charge(two, KEY, 2));
        RateLimit rate = fixedWindow("two", 1, "1/h");
        assertThat(take(rate, 1).allowed()).isTrue();
        release(outcome);
        assertThat(remaining(two)).isEqualTo(2);
        assertThat(remaining(rate)).isZero();
    }

    @Test
    void resetForgetsTheHolders() {
        StoreOutcome outcome = enter(new Charge(two, KEY, 2));
        store.change(two, KEY, BucketChange.RESET).toCompletableFuture().join();
        StoreOutcome next = enter(one(two));
        assertThat(next.decision()).isEqualTo(allowed(2, 1, UNKNOWN));
        release(outcome);
        assertThat(remaining(two)).isEqualTo(1);
    }

    @Test
    void countsWhatCallsHoldUntilTheyEndOrAreReset() {
        StoreOutcome first = enter(one(two));
        enter(new Charge(two, "bob", 2));
        enter(new Charge(two, "bob", 1));
        enter(one(concurrency("other", 2)));
        assertThat(store.heldPermits(two)).isEqualTo(3);
        release(first);
        release(first);
        assertThat(store.heldPermits(two)).isEqualTo(2);
        StoreOutcome next = enter(one(two));
        store.change(two, KEY, BucketChange.RESET).toCompletableFuture().join();
        assertThat(store.heldPermits(two)).isEqualTo(2);
        release(next);
        assertThat(store.heldPermits(two)).isEqualTo(2);
        store.change(two, "bob", BucketChange.RESET).toCompletableFuture().join();
        assertThat(store.heldPermits(two)).isZero();
    }

    @Test
    void isInspected() {
        enter(one(two));
        assertThat(store.change(two, KEY, BucketChange.NONE)
                        .toCompletableFuture()
                        .join())
                .isEqualTo(new BucketStatus(2, 1, UNKNOWN, Duration.ZERO));
    }

    @Test
    void asynchronousCallsAreTheSame() {
        Deque<StoreOutcome> calls = new ArrayDeque<>();
        for (int i = 0; i < 3; i++) {
            calls.add(store.decide(StoreRequest.refundable(List.of(one(two))))
                    .toStage()
                    .toCompletableFuture()
                    .join());
        }
        assertThat(calls).extracting(outcome -> outcome.decision().allowed()).containsExactly(true, true, false);
        calls.forEach(HoldingContract::release);
        assertThat(remaining(two)).isEqualTo(2);
    }
}
