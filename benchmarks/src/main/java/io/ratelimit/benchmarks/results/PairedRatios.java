package io.ratelimit.benchmarks.results;

/**
 * Compares a turn with the floor's turns before and after it, which ran in the same minute of the same machine: what
 * disturbs all three is not in the ratio.
 */
public final class PairedRatios {

    private PairedRatios() {}

    /** How often the floor's value, the mean of its two turns, is in the one between them. */
    public static double ratio(double floorBefore, double value, double floorAfter) {
        return value / ((floorBefore + floorAfter) / 2);
    }
}
