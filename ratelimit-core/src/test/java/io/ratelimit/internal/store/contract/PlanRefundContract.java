package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a refund of a call with one plan changes for the other plans of the key. */
public abstract class PlanRefundContract extends StoreContract {

    /** All have counted the call. */
    @ParameterizedTest
    @EnumSource
    void refundIsForAllPlansOfTheKey(LimitKind kind) {
        RateLimit base = base(kind);
        RateLimit gold = gold(kind);
        take(base, 1);
        take(gold, 1);
        Charge charge = new Charge(gold, KEY, 1);
        for (int rejected = 0; rejected < 3; rejected++) {
            takeAndRefund(charge);
        }
        assertThat(remaining(gold)).isEqualTo(10);
        assertThat(remaining(base)).isEqualTo(4);
    }

    /** What is used of it was taken by later calls. */
    @ParameterizedTest
    @EnumSource
    void refundReturnsNothingToAFasterPlanInWhichThePermitsAreBack(LimitKind kind) {
        RateLimit fast = kind.limit("six", 12, "12/6s");
        take(fast, 1);
        Charge charge = new Charge(kind.limit("six", 12, "12/60s"), KEY, 2);
        Refund refund = takeRefundable(charge);
        clock.advance(12 * SECOND);
        take(fast, 3);
        refund.refund(List.of(charge)).toCompletableFuture().join();
        assertThat(remaining(fast)).isEqualTo(9);
    }

    /** Else it would depend on when a store removes the bucket whether another plan has counted the call. */
    @ParameterizedTest
    @EnumSource
    void refundLeavesNothingTakenForPlansOfBeforeTheBucketWasFull(LimitKind kind) {
        take(base(kind), 2);
        take(gold(kind), 1);
        clock.advance(60 * SECOND);
        takeAndRefund(new Charge(gold(kind), KEY, 7));
        assertThat(remaining(base(kind))).isEqualTo(6);
        assertThat(remaining(gold(kind))).isEqualTo(12);
    }

    /** Else calls of one plan that are rejected later would empty what another has counted. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_WINDOW_LOG")
    void refundLeavesAPlanEmptyThatHadNoPermitsForTheCharge(LimitKind kind) {
        RateLimit base = base(kind);
        take(base, 6);
        Charge charge = new Charge(gold(kind), KEY, 1);
        for (int rejected = 0; rejected < 3; rejected++) {
            takeAndRefund(charge);
        }
        assertThat(remaining(base)).isZero();
        assertThat(remaining(charge.limit())).isEqualTo(6);
    }

    /** The two that the call of the other plan took, when the plan had none left, are still out. */
    @ParameterizedTest
    @EnumSource
    void refundLeavesAPlanEmptyThatCouldNotCountAllOfALaterCall(LimitKind kind) {
        RateLimit base = base(kind);
        take(base, 2);
        Charge charge = new Charge(base, KEY, 2);
        Refund refund = takeRefundable(charge);
        clock.advance(1);
        assertThat(take(gold(kind), 4).allowed()).isTrue();
        clock.advance(1);
        refund.refund(List.of(charge)).toCompletableFuture().join();
        assertThat(remaining(base)).isZero();
        assertThat(remaining(gold(kind))).isEqualTo(4);
    }

    /** A full log makes room for the call by older entries, which a refund does not bring back. */
    @ParameterizedTest
    @EnumSource
    void refundLeavesAPlanEmptyThatWasFullBefore(LimitKind kind) {
        RateLimit base = base(kind);
        for (int call = 0; call < 6; call++) {
            assertThat(take(base, 1).allowed()).isTrue();
            clock.advance(1);
        }
        takeAndRefund(new Charge(gold(kind), KEY, 3));
        assertThat(remaining(base)).isZero();
        assertThat(remaining(gold(kind))).isEqualTo(6);
    }

    /** A bucket knows three plans. What the state of a displaced one adopts when it is back has never known the charge. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = ".*WITH_WAIT")
    void refundReturnsNothingToAPlanThatWasDisplacedSinceTheCharge(LimitKind kind) {
        RateLimit displaced = kind.limit("six", 8, "8/6s");
        take(kind.limit("six", 10, "10/6s"), 1);
        Charge charge = new Charge(displaced, KEY, 4);
        Refund refund = takeRefundable(charge);
        clock.advance(1);
        take(kind.limit("six", 7, "7/6s"), 1);
        clock.advance(1);
        take(kind.limit("six", 6, "6/6s"), 1);
        clock.advance(1);
        assertThat(take(kind.limit("six", 10, "10/6s"), 3).allowed()).isTrue();
        clock.advance(1);
        assertThat(take(displaced, 1).allowed()).isFalse();
        refund.refund(List.of(charge)).toCompletableFuture().join();
        assertThat(remaining(displaced)).isZero();
    }

    private void takeAndRefund(Charge charge) {
        takeRefundable(charge).refund(List.of(charge)).toCompletableFuture().join();
    }

    private Refund takeRefundable(Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join()
                .refund();
    }

    private static RateLimit base(LimitKind kind) {
        return kind.limit("six", 6, "6/6s");
    }

    private static RateLimit gold(LimitKind kind) {
        return kind.limit("six", 12, "6/6s");
    }
}
