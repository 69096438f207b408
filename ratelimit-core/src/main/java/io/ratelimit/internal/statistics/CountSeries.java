package io.ratelimit.internal.statistics;

import java.time.Duration;
import java.time.Instant;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The counts of one limit in consecutive intervals, oldest first. An array is {@code null} if all its counts are 0.
 *
 * @param from the begin of the first interval
 * @param step the length of an interval; the last one is under way
 */
@SuppressWarnings("ArrayRecordComponent")
public record CountSeries(
        Instant from,
        Duration step,
        long @Nullable [] allowed,
        long @Nullable [] rejected,
        long @Nullable [] dryRunRejected,
        long @Nullable [] refused) {

    static CountSeries of(Instant from, CallCounts[] counts) {
        return new CountSeries(
                from,
                IntervalClock.STEP,
                values(counts, CallCounts::allowed),
                values(counts, CallCounts::rejected),
                values(counts, CallCounts::dryRunRejected),
                values(counts, CallCounts::refused));
    }

    private static long @Nullable [] values(CallCounts[] counts, ToLongFunction<CallCounts> part) {
        long[] values = Stream.of(counts).mapToLong(part).toArray();
        for (long value : values) {
            if (value != 0) {
                return values;
            }
        }
        return null;
    }
}
