package io.ratelimit.benchmarks.results;

import java.util.Collection;

/**
 * The middle of some numbers, and of their lower and upper half: not moved by a few turns that something else disturbed.
 * Between two numbers the quartile lies on the line between them.
 */
public record Quartiles(double lower, double median, double upper) {

    /**
     * Those of the numbers, in any order.
     *
     * @throws IllegalArgumentException if there are none
     */
    public static Quartiles of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("No numbers");
        }
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Quartiles(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
    }

    private static double at(double[] sorted, double share) {
        double position = share * (sorted.length - 1);
        int below = (int) position;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    }
}
