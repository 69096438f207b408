package io.ratelimit;

import java.util.List;

/**
 * What became of a call that asked several limits at once: all of them were charged, or none was.
 *
 * @param tightest what the tightest limit said. Of those that rejected, the one with the longest {@code retryAfter}, or
 *     with none because it can never allow the call. If all allowed, the one with the fewest permits {@code remaining}
 *     (of the same number, the one with the longest {@code resetAfter}); its {@code delay} is then the longest of all.
 * @param rejectedBy the names of the limits that rejected, the tightest first; empty when allowed
 */
public record JointDecision(RateLimitDecision tightest, List<String> rejectedBy) {

    public JointDecision {
        rejectedBy = List.copyOf(rejectedBy);
    }

    /** Whether the call may go on, once the {@code delay} of the tightest is over. */
    public boolean allowed() {
        return rejectedBy.isEmpty();
    }
}
