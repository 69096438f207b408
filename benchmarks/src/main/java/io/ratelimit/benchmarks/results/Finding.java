package io.ratelimit.benchmarks.results;

/**
 * One number.
 *
 * @param workload under which it was measured; empty if there are no several
 * @param contestant that was measured
 */
public record Finding(String workload, String contestant, Measure measure, double value) {

    /** Without a workload. */
    public Finding(String contestant, Measure measure, double value) {
        this("", contestant, measure, value);
    }
}
