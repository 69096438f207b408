package io.ratelimit.internal.limiter;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;

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

    /** Returns this request with the charges that were decided, which differ if a limit has changed while the call waited. */
    AcquireRequest as(StoreOutcome outcome) {
        return !holdsPermits() || outcome.charges().equals(charges)
                ? this
                : new AcquireRequest(outcome.charges(), refundable, listener);
    }

    /** Returns whether a charge is for a concurrency limit, whose permits the call holds. */
    public boolean holdsPermits() {
        return anyHoldsPermits(charges);
    }

    StoreRequest toStore() {
        return StoreRequest.of(charges, refundable);
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
