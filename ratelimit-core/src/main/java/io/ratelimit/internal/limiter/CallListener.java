package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import java.util.List;

/**
 * Receives the decisions of all limits of one call, including those that allow a call that another limit rejects. Must not
 * throw; an exception is logged and never changes a decision.
 */
public interface CallListener {

    /** Ignores the decisions. */
    CallListener NONE = new CallListener() {};

    /**
     * Called once, before the call waits or is rejected.
     *
     * @param decisions those of the store, one for each charge, in the same order
     */
    default void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}

    /** Called before charges of the call are refunded because the method has failed. */
    default void onRefund(List<Charge> charges) {}

    /** Called when the call has released the permits that it held, at least once. */
    default void onRelease() {}
}
