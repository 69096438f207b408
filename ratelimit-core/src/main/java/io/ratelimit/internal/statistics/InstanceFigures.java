package io.ratelimit.internal.statistics;

import java.time.Instant;
import java.util.Map;

/**
 * Describes one instance: its name, since when it runs, and what it has counted in the last minute.
 *
 * @param id tells instances apart
 * @param name for people: its process and host
 * @param lastMinute what it has counted lately, by the id of the limit; limits without a call are absent
 */
public record InstanceFigures(
        String id,
        String name,
        Instant startedAt,
        Instant lastSeenAt,
        InstanceState state,
        Map<String, CallCounts> lastMinute) {

    InstanceFigures notHeard() {
        return new InstanceFigures(id, name, startedAt, lastSeenAt, InstanceState.NOT_HEARD, Map.of());
    }

    InstanceFigures named(String other) {
        return new InstanceFigures(id, other, startedAt, lastSeenAt, state, lastMinute);
    }
}
