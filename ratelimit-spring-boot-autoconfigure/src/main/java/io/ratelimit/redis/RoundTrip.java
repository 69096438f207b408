package io.ratelimit.redis;

import java.time.Duration;

/**
 * Estimates the round-trip time of a script: as a moving average, which falls quickly and rises slowly, because a single late
 * reply means little; and as the minimum of the last replies, which tells how distant the server is, however busy this machine
 * is.
 */
final class RoundTrip {

    private static final long LONG = Duration.ofMillis(4).toNanos();

    /** The minimum is taken over this number of replies, or up to twice as many. */
    private static final int WINDOW = 64;

    private volatile long average;

    private volatile long least;

    private long leastBefore = Long.MAX_VALUE;

    private long leastNow = Long.MAX_VALUE;

    private int answers;

    synchronized void add(long sample) {
        long known = average;
        average = known + (sample < known ? (sample - known) / 2 : (sample - known) / 8);
        leastNow = Math.min(leastNow, sample);
        least = Math.min(leastBefore, leastNow);
        if (++answers == WINDOW) {
            answers = 0;
            leastBefore = leastNow;
            leastNow = Long.MAX_VALUE;
        }
    }

    long nanos() {
        return average;
    }

    /** Returns whether sending one script at a time would limit the throughput. */
    boolean isLong() {
        return least >= LONG;
    }
}
