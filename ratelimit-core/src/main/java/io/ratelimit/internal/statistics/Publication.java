package io.ratelimit.internal.statistics;

import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * What one instance tells the others.
 *
 * @param id tells instances apart
 * @param instance describes it; {@code null}: it leaves
 * @param sequence numbers what is counted: counts with the number of earlier ones are these, sent again
 * @param nowMicros the time by the clock of the instance
 * @param startedMicros when the instance has started
 * @param counts what is to be added, by interval and the id of the limit
 */
public record Publication(
        String id,
        @Nullable InstanceFigures instance,
        long sequence,
        long nowMicros,
        long startedMicros,
        SortedMap<Long, Map<String, CallCounts>> counts) {}
