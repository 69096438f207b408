package io.ratelimit.redis;

/**
 * Estimates the round-trip time of a script: as a moving average, which falls quickly and rises slowly, because a single late
 * reply means little.
 */
final class RoundTrip {

    private volatile long average;

    synchronized void add(long sample) {
        long known = average;
        average = known + (sample < known ? (sample - known) / 2 : (sample - known) / 8);
    }

    long nanos() {
        return average;
    }
}
