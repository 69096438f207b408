package io.ratelimit;

import java.util.List;

/**
 * Holds the decision about a call that is charged to several limits: either all are charged or none.
 *
 * @param tightest the decision of the tightest limit. If the call is rejected, this is the rejection with the longest
 *     {@code retryAfter}, or with a null one, because it can never succeed. If the call is allowed, it is the decision with
 *     the fewest {@code remaining} permits (among equals, with the longest {@code resetAfter}) and the longest
 *     {@code delay} of all limits.
 * @param rejectedBy the names of the limits that rejected the call, the tightest first; empty if it is allowed
 */
public record JointDecision(RateLimitDecision tightest, List<String> rejectedBy) {

    public JointDecision {
        rejectedBy = List.copyOf(rejectedBy);
    }

    /** Returns whether the call may proceed, after the {@code delay} of {@link #tightest}. */
    public boolean allowed() {
        return rejectedBy.isEmpty();
    }
}
