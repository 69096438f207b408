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
 *
 * @param ofAllInstances whether they are those of all instances together
 * @param instances the first one to start first
 * @param counts by interval and the id of the limit
 * @param newest the interval under way
 * @param history the number of intervals, the one under way among them; 0: none
 * @param topKeys the keys that the limit has rejected most in the last minutes; {@code null}: they are not counted
 */
public record Figures(
        boolean ofAllInstances,
        List<InstanceFigures> instances,
        Map<Long, Map<String, CallCounts>> counts,
        long newest,
        int history,
        @Nullable List<KeyCount> topKeys) {

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
}
