package io.ratelimit.benchmarks.results;

/**
 * What a prototype has reached, and we want to.
 *
 * @param measure as a ratio to the floor, or bytes
 */
public record Target(String contestant, Measure measure, double value) {

    boolean isReachedBy(double median) {
        return measure == Measure.THROUGHPUT ? median >= value : median <= value;
    }
}
