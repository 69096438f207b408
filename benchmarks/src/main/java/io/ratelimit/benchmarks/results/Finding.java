package io.ratelimit.benchmarks.results;

/**
 * One number.
 *
 * @param contestant of whom
 */
public record Finding(String contestant, Measure measure, double value) {}
