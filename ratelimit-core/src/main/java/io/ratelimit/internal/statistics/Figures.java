package io.ratelimit.internal.statistics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Holds the figures that one request of the endpoint has read, of all instances or of this one alone. Limits are named by their
 * id.
 */
public final class Figures {

    private final boolean ofAllInstances;

    private final List<InstanceFigures> instances;

    private final Map<Long, Map<String, CallCounts>> counts;

    private final long newest;

    private final int history;

    private final @Nullable List<KeyCount> topKeys;

    /**
     * @param counts by interval and the id of the limit
     * @param history the number of intervals, the one under way among them; 0: none
     * @param topKeys {@code null}: they are not counted
     */
    Figures(
            boolean ofAllInstances,
            List<InstanceFigures> instances,
            Map<Long, Map<String, CallCounts>> counts,
            long newest,
            int history,
            @Nullable List<KeyCount> topKeys) {
        this.ofAllInstances = ofAllInstances;
        this.instances = instances;
        this.counts = counts;
        this.newest = newest;
        this.history = history;
        this.topKeys = topKeys;
    }

    /** Returns whether the figures are those of all instances together. */
    public boolean areOfAllInstances() {
        return ofAllInstances;
    }

    /** Returns the instances, the first one to start first. */
    public List<InstanceFigures> instances() {
        return instances;
    }

    /** Returns what was counted in the last minute, and in the interval under way. */
    public CallCounts lastMinute(String limit) {
        return Stream.of(counts(limit, InstanceStatistics.LAST_MINUTE)).reduce(CallCounts.NONE, CallCounts::plus);
    }

    /** Returns what was counted in each of the last intervals. */
    private CallCounts[] counts(String limit, int intervals) {
        return LongStream.rangeClosed(newest - intervals + 1, newest)
                .mapToObj(interval -> counts.getOrDefault(interval, Map.of()).getOrDefault(limit, CallCounts.NONE))
                .toArray(CallCounts[]::new);
    }

    /** Returns what was counted in each interval; {@code null} if the history was not asked for. */
    public @Nullable CountSeries history(String limit) {
        return history == 0 ? null : CountSeries.of(IntervalClock.begin(newest - history + 1), counts(limit, history));
    }

    /** Returns what each instance has counted in the last minute, by its name. */
    public Map<String, CallCounts> byInstance(String limit) {
        Map<String, CallCounts> counted = new LinkedHashMap<>();
        instances.forEach(
                instance -> counted.put(instance.name(), instance.lastMinute().getOrDefault(limit, CallCounts.NONE)));
        return counted;
    }

    /** Returns the keys that the limit has rejected most in the last minutes; {@code null}: they are not counted. */
    public @Nullable List<KeyCount> topKeys() {
        return topKeys;
    }
}
