package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import java.util.List;

/**
 * Sees what all limits of one call have said, once it is decided: those that would have allowed what another rejects, too.
 * Must not throw; if it does, no decision changes.
 */
@FunctionalInterface
public interface CallListener {

    /** Where nobody wants to see it. */
    CallListener NONE = (charges, decisions) -> {};

    /**
     * The call is decided. Told once, before the call waits or is rejected.
     *
     * @param decisions the store's own, one for each charge, in their order
     */
    void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions);

    /** Charges of the call are given back, because the method has failed. */
    default void onRefund(List<Charge> charges) {}
}
