package io.ratelimit.internal.statistics;

import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Holds the figures of this instance in the JVM, by interval and the id of the limit: those of the last 15 minutes, and those that
 * it has not published to the other instances.
 */
final class InstanceStatistics {

    /** The intervals of 15 minutes, and the one under way. */
    static final int INTERVALS = (int) (15 * 60 / IntervalClock.STEP.toSeconds()) + 1;

    /** The intervals of a minute, and the one under way. */
    static final int LAST_MINUTE = 60 / (int) IntervalClock.STEP.toSeconds() + 1;

    private final CallCounting counting;

    private final IntervalClock clock;

    /** The number of the interval under way. */
    private long newest;

    private NavigableMap<Long, Map<String, CallCounts>> history = new TreeMap<>();

    private NavigableMap<Long, Map<String, CallCounts>> unpublished = new TreeMap<>();

    InstanceStatistics(CallCounting counting, IntervalClock clock) {
        this.counting = counting;
        this.clock = clock;
        this.newest = clock.interval();
    }

    IntervalClock clock() {
        return clock;
    }

    /** Takes over what was counted since the last time. */
    synchronized void sample() {
        newest = Math.max(newest, clock.interval());
        Map<String, CallCounts> counts = counting.takeNew();
        if (!counts.isEmpty()) {
            history.merge(newest, counts, CallCounts::sum);
            unpublished.merge(newest, counts, CallCounts::sum);
        }
        history.headMap(newest - INTERVALS + 1).clear();
        unpublished.headMap(newest - INTERVALS + 1).clear();
    }

    /** Sets the clock by the one that all instances share. Returns by how many intervals it has moved. */
    synchronized long synchronize(long earliest, long latest) {
        long moved = clock.synchronize(earliest, latest);
        if (moved != 0) {
            newest += moved;
            history = renumbered(history, moved);
            unpublished = renumbered(unpublished, moved);
        }
        return moved;
    }

    static <T> NavigableMap<Long, T> renumbered(SortedMap<Long, T> intervals, long moved) {
        NavigableMap<Long, T> renumbered = new TreeMap<>();
        intervals.forEach((interval, value) -> renumbered.put(interval + moved, value));
        return renumbered;
    }

    /** Takes the oldest counts that the others do not know, of the given number of intervals at most. */
    synchronized SortedMap<Long, Map<String, CallCounts>> takeUnpublished(int most) {
        SortedMap<Long, Map<String, CallCounts>> taken = new TreeMap<>();
        while (taken.size() < most && !unpublished.isEmpty()) {
            Map.Entry<Long, Map<String, CallCounts>> oldest = unpublished.pollFirstEntry();
            taken.put(oldest.getKey(), oldest.getValue());
        }
        return taken;
    }

    /** Returns what was counted in the last minute, of each limit with a call. */
    synchronized Map<String, CallCounts> lastMinute() {
        return history.tailMap(newest - LAST_MINUTE + 1).values().stream().reduce(Map.of(), CallCounts::sum);
    }

    synchronized long newest() {
        return newest;
    }

    /** Returns what was counted in each of the last intervals. */
    synchronized Map<Long, Map<String, CallCounts>> history() {
        return Map.copyOf(history);
    }
}
