package io.ratelimit.benchmarks.race;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one thread did in one turn, or all together.
 *
 * @param right calls that were decided as they should be
 * @param wrong calls that were not, or failed
 * @param perNano right calls in a nanosecond
 * @param latencies of all calls in nanoseconds; null if they were not timed
 */
record Tally(
        long right, long wrong, double perNano, @Nullable Histogram latencies) {

    static Tally of(long right, long wrong, long nanos, @Nullable Histogram latencies) {
        return new Tally(right, wrong, nanos == 0 ? 0 : (double) right / nanos, latencies);
    }

    static Tally sum(List<Tally> tallies) {
        return new Tally(
                tallies.stream().mapToLong(Tally::right).sum(),
                tallies.stream().mapToLong(Tally::wrong).sum(),
                tallies.stream().mapToDouble(Tally::perNano).sum(),
                sumOfLatencies(tallies));
    }

    private static @Nullable Histogram sumOfLatencies(List<Tally> tallies) {
        Histogram sum = null;
        for (Tally tally : tallies) {
            if (tally.latencies != null) {
                if (sum == null) {
                    sum = tally.latencies.copy();
                } else {
                    sum.add(tally.latencies);
                }
            }
        }
        return sum;
    }
}
