package io.ratelimit.redis;

import java.time.Duration;

/**
 * Estimates how long a script takes there and back, as a moving average. It falls quickly and rises slowly: one answer that
 * was late says little about the way.
 */
final class RoundTrip {

    private static final long LONG = Duration.ofMillis(4).toNanos();

    private volatile long nanos;

    void add(long sample) {
        long known = nanos;
        nanos = known + (sample < known ? (sample - known) / 2 : (sample - known) / 8);
    }

    long nanos() {
        return nanos;
    }

    /** Whether it takes so long that waiting for one answer before the next question would bound what can be asked. */
    boolean isLong() {
        return nanos >= LONG;
    }
}
