package io.ratelimit.internal.statistics;

/** Knows what was counted in each interval. */
@FunctionalInterface
interface IntervalCounts {

    /** Returns what was counted of a limit in an interval. */
    CallCounts get(String limit, long interval);

    /** Returns the sum over intervals. */
    default CallCounts sum(String limit, long first, long last) {
        CallCounts sum = CallCounts.NONE;
        for (long interval = first; interval <= last; interval++) {
            sum = sum.plus(get(limit, interval));
        }
        return sum;
    }
}
