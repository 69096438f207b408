package io.ratelimit.redis;

import java.time.Duration;

/**
 * Estimates how long a script takes there and back: as a moving average, which falls quickly and rises slowly, because one
 * answer that was late says little; and as the least of the last answers, which says how far away the server is, however
 * busy this machine is.
 */
final class RoundTrip {

    private static final long LONG = Duration.ofMillis(4).toNanos();

    /** The least is of so many answers, or twice as many. */
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

    /** Whether it takes so long that waiting for one answer before the next question would bound what can be asked. */
    boolean isLong() {
        return least >= LONG;
    }
}
