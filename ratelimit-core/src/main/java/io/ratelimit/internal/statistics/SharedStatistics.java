package io.ratelimit.internal.statistics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the counts of this instance, and reads those of all instances: the interface to where they are kept, which is Redis.
 * Never blocks; a failure completes the stage, at the latest after a bounded time. It does not pass the circuit breaker and never
 * counts towards it.
 */
public interface SharedStatistics {

    /** How far the clock of an instance may be off, for its intervals to be taken for those of the others. */
    long TOLERANCE_MICROS = IntervalClock.STEP_MICROS / 2;

    /** Adds the counts of an instance, and notes that it is there. */
    CompletionStage<Receipt> publish(Publication publication);

    /**
     * Reads what all instances have counted.
     *
     * @param first the number of the first interval
     * @param last that of the last one
     * @param limit the id of the only limit to read, with the figures of each instance; {@code null}: all, without them
     */
    CompletionStage<Snapshot> read(long first, long last, @Nullable String limit);

    /**
     * Tells which keys an instance rejects most, in the place of what it has told before.
     *
     * @param reports by the id of the limit; if they are too long, keys that were rejected less often are left out
     */
    CompletionStage<?> publishKeys(String instance, Map<String, KeyReport> reports);

    /** Reads which keys of a limit each instance rejects most, by the id of the instance. */
    CompletionStage<Map<String, KeyReport>> readKeys(String limit);

    /**
     * The reply to a publication.
     *
     * @param nowMicros the time that all instances share
     * @param instances how many there are, as counted some seconds ago
     * @param accepted {@code false} if the clock of the instance is so wrong that nothing was noted
     */
    record Receipt(long nowMicros, int instances, boolean accepted) {}

    /**
     * What all instances have counted.
     *
     * @param counts by interval and the id of the limit
     */
    record Snapshot(long nowMicros, List<InstanceFigures> instances, Map<Long, Map<String, CallCounts>> counts) {}
}
