package io.ratelimit.benchmarks.race;

import java.util.List;

/**
 * What one thread did in one turn, or all together.
 *
 * @param right calls that were decided as they should be
 * @param wrong calls that were not, or failed
 * @param perNano right calls in a nanosecond
 */
record Tally(long right, long wrong, double perNano) {

    static Tally of(long right, long wrong, long nanos) {
        return new Tally(right, wrong, (double) right / nanos);
    }

    static Tally sum(List<Tally> tallies) {
        return new Tally(
                tallies.stream().mapToLong(Tally::right).sum(),
                tallies.stream().mapToLong(Tally::wrong).sum(),
                tallies.stream().mapToDouble(Tally::perNano).sum());
    }
}
