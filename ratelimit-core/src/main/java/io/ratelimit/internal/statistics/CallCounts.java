package io.ratelimit.internal.statistics;

import java.util.HashMap;
import java.util.Map;

/**
 * How many calls a limit has decided about.
 *
 * @param dryRunRejected rejected in dry run, and so allowed
 * @param refused not decided, because the store failed, and refused or failed with an exception
 */
public record CallCounts(long allowed, long rejected, long dryRunRejected, long refused) {

    public static final CallCounts NONE = new CallCounts(0, 0, 0, 0);

    public CallCounts plus(CallCounts other) {
        return new CallCounts(
                allowed + other.allowed,
                rejected + other.rejected,
                dryRunRejected + other.dryRunRejected,
                refused + other.refused);
    }

    /** Adds counts of several limits, by the id of the limit. */
    static Map<String, CallCounts> sum(Map<String, CallCounts> some, Map<String, CallCounts> others) {
        Map<String, CallCounts> sum = new HashMap<>(some);
        others.forEach((limit, counts) -> sum.merge(limit, counts, CallCounts::plus));
        return sum;
    }

    CallCounts minus(CallCounts other) {
        return new CallCounts(
                allowed - other.allowed,
                rejected - other.rejected,
                dryRunRejected - other.dryRunRejected,
                refused - other.refused);
    }
}
