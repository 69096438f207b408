package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a refund of a call with one plan changes for the other plans of the key. */
public abstract class PlanRefundContract extends StoreContract {

    /** Logs share the entry. Others would have to know what each plan has counted of the charge. */
    @ParameterizedTest
    @EnumSource
    void refundIsForThePlanOfTheCallUnlessPlansShareItsEntry(LimitKind kind) {
        RateLimit base = base(kind);
        RateLimit gold = gold(kind);
        take(base, 1);
        take(gold, 1);
        Charge charge = new Charge(gold, KEY, 1);
        for (int rejected = 0; rejected < 3; rejected++) {
            takeAndRefund(charge);
        }
        assertThat(remaining(gold)).isEqualTo(10);
        assertThat(remaining(base)).isEqualTo(kind == LimitKind.SLIDING_WINDOW_LOG ? 4 : 1);
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

    private void takeAndRefund(Charge charge) {
        StoreOutcome taken = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        taken.refund().refund(List.of(charge)).toCompletableFuture().join();
    }

    private static RateLimit base(LimitKind kind) {
        return kind.limit("six", 6, "6/6s");
    }

    private static RateLimit gold(LimitKind kind) {
        return kind.limit("six", 12, "6/6s");
    }
}
