package io.ratelimit.internal.statistics;

import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Holds the figures of this instance in the JVM: its {@link CountHistory}, and the counts that it has not published to the other
 * instances.
 */
final class InstanceStatistics {

    /** The intervals of a minute, and the one under way. */
    static final int LAST_MINUTE = 60 / (int) IntervalClock.STEP.toSeconds() + 1;

    private final CallCounting counting;

    private final IntervalClock clock;

    private final CountHistory history;

    private final boolean shared;

    private SortedMap<Long, Map<String, CallCounts>> unpublished = new TreeMap<>();

    /** @param shared whether there are others to tell */
    InstanceStatistics(CallCounting counting, IntervalClock clock, boolean shared) {
        this.counting = counting;
        this.clock = clock;
        this.history = new CountHistory(clock.interval());
        this.shared = shared;
    }

    IntervalClock clock() {
        return clock;
    }

    /** Takes over what was counted since the last time. */
    synchronized void sample() {
        history.advance(clock.interval());
        counting.takeNew((limit, counts) -> {
            history.add(limit, counts);
            if (shared) {
                unpublished
                        .computeIfAbsent(history.newest(), first -> new HashMap<>())
                        .merge(limit, counts, CallCounts::plus);
            }
        });
        unpublished.headMap(history.newest() - CountHistory.INTERVALS + 1).clear();
    }

    /** Sets the clock by the one that all instances share. Returns by how many intervals it has moved. */
    synchronized long synchronize(long earliest, long latest) {
        long moved = clock.synchronize(earliest, latest);
        if (moved != 0) {
            history.renumber(moved);
            unpublished = renumbered(unpublished, moved);
        }
        return moved;
    }

    static <T> SortedMap<Long, T> renumbered(SortedMap<Long, T> intervals, long moved) {
        SortedMap<Long, T> renumbered = new TreeMap<>();
        intervals.forEach((interval, value) -> renumbered.put(interval + moved, value));
        return renumbered;
    }

    /** Takes the oldest counts that the others do not know, of the given number of intervals at most. */
    synchronized SortedMap<Long, Map<String, CallCounts>> takeUnpublished(int most) {
        SortedMap<Long, Map<String, CallCounts>> taken = new TreeMap<>();
        while (taken.size() < most && !unpublished.isEmpty()) {
            Long oldest = unpublished.firstKey();
            taken.put(oldest, unpublished.remove(oldest));
        }
        return taken;
    }

    /** Returns what was counted in the last minute, of each limit with a call. */
    synchronized Map<String, CallCounts> lastMinute() {
        Map<String, CallCounts> sums = new HashMap<>();
        for (String limit : counting.limits()) {
            CallCounts sum = lastMinute(history, limit, history.newest());
            if (!sum.equals(CallCounts.NONE)) {
                sums.put(limit, sum);
            }
        }
        return sums;
    }

    /** Sums the twelve intervals before the one under way, and that one. */
    static CallCounts lastMinute(IntervalCounts counts, String limit, long newest) {
        return counts.sum(limit, newest - LAST_MINUTE + 1, newest);
    }

    synchronized long newest() {
        return history.newest();
    }

    synchronized CallCounts get(String limit, long interval) {
        return history.get(limit, interval);
    }
}
