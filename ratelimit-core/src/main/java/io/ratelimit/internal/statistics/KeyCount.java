package io.ratelimit.internal.statistics;

/**
 * How often calls with a key were rejected.
 *
 * @param rejected never too low
 * @param error by how much it is too high, at most
 */
public record KeyCount(String key, long rejected, long error) {}
