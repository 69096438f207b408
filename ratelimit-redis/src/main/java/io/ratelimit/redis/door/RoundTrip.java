package io.ratelimit.redis.door;

/**
 * Estimates the round-trip time of a script: as a moving average, which falls quickly and rises slowly, because a single late
 * reply means little.
 */
public final class RoundTrip {

    private volatile long average;

    public synchronized void add(long sample) {
        long known = average;
        average = known + (sample < known ? (sample - known) / 2 : (sample - known) / 8);
    }

    public long nanos() {
        return average;
    }
}
