package io.ratelimit.internal.limiter;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Requests permits for one call.
 *
 * @param charges at least one, and no two to the same bucket
 * @param refundable whether the charges may be refunded later, as those of concurrency limits must be
 * @param listener receives the decisions of all limits
 */
public record AcquireRequest(List<Charge> charges, boolean refundable, CallListener listener) {

    /** A limit can become a concurrency limit until it is charged, so its charges are refundable whatever the caller expects. */
    public AcquireRequest {
        refundable = refundable || anyHoldsPermits(charges);
    }

    /** Requests permits of charges that are refunded only if they have to be: those of concurrency limits. */
    public static AcquireRequest of(List<Charge> charges, CallListener listener) {
        return new AcquireRequest(charges, false, listener);
    }

    /** Returns this request with the charges that were decided, which differ if a limit has changed while the call waited. */
    AcquireRequest as(StoreOutcome outcome) {
        return outcome.charges().equals(charges) ? this : new AcquireRequest(outcome.charges(), refundable, listener);
    }

    /** Returns whether a charge is for a concurrency limit, whose permits the call holds. */
    public boolean holdsPermits() {
        return refundable && anyHoldsPermits(charges);
    }

    StoreRequest toStore() {
        return StoreRequest.of(charges, refundable);
    }

    /**
     * Returns what settles the charges, if they are refundable.
     *
     * @param continuations determines where the continuations of the work run
     */
    Settlement settlement(
            StoreOutcome outcome, RateLimitStore store, UnaryOperator<CompletionStage<Void>> continuations) {
        return refundable ? Settlement.of(charges, outcome, store::charge, continuations) : Settlement.NONE;
    }

    private static boolean anyHoldsPermits(List<Charge> charges) {
        for (Charge charge : charges) {
            if (!charge.limit().hasRate()) {
                return true;
            }
        }
        return false;
    }
}
