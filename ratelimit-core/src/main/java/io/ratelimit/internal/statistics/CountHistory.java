package io.ratelimit.internal.statistics;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps what was counted of each limit in a ring of intervals: those of the last 15 minutes, and the one under way. Not
 * thread-safe: {@link InstanceStatistics} guards it.
 */
final class CountHistory implements IntervalCounts {

    /** Those of 15 minutes, and the one under way. */
    static final int INTERVALS = (int) (15 * 60 / IntervalClock.STEP.toSeconds()) + 1;

    private final Map<String, CallCounts[]> limits = new HashMap<>();

    private long newest;

    /** The place of an interval is its number plus this, modulo the number of intervals. */
    private long shift;

    CountHistory(long interval) {
        this.newest = interval;
    }

    /** Returns the number of the interval under way. */
    long newest() {
        return newest;
    }

    /** Begins an interval, unless it has begun. The oldest ones are forgotten. */
    void advance(long interval) {
        long first = Math.max(newest + 1, interval - INTERVALS + 1);
        for (long begun = first; begun <= interval; begun++) {
            int place = place(begun);
            limits.values().forEach(counts -> counts[place] = CallCounts.NONE);
        }
        newest = Math.max(newest, interval);
    }

    /** Adds to the interval under way. */
    void add(String limit, CallCounts counts) {
        CallCounts[] known = limits.computeIfAbsent(limit, first -> none());
        int place = place(newest);
        known[place] = known[place].plus(counts);
    }

    private static CallCounts[] none() {
        CallCounts[] counts = new CallCounts[INTERVALS];
        Arrays.fill(counts, CallCounts.NONE);
        return counts;
    }

    /** Renumbers all intervals, because the clock has moved. */
    void renumber(long intervals) {
        newest += intervals;
        shift -= intervals;
    }

    @Override
    public CallCounts get(String limit, long interval) {
        CallCounts[] known = limits.get(limit);
        return known == null || interval > newest || interval <= newest - INTERVALS
                ? CallCounts.NONE
                : known[place(interval)];
    }

    private int place(long interval) {
        return (int) Math.floorMod(interval + shift, (long) INTERVALS);
    }
}
