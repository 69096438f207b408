package io.ratelimit.benchmarks.results;

/**
 * One number.
 *
 * @param contestant that was measured
 */
public record Finding(String contestant, Measure measure, double value) {}
