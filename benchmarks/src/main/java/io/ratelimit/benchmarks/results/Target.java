package io.ratelimit.benchmarks.results;

/**
 * A number to reach: what a smaller prototype measured before this project.
 *
 * @param measure as a ratio to the floor, or bytes
 */
public record Target(String contestant, Measure measure, double value) {

    boolean isMetBy(double median) {
        return measure == Measure.THROUGHPUT ? median >= value : median <= value;
    }
}
