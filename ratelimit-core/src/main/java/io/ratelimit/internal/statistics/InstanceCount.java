package io.ratelimit.internal.statistics;

/**
 * Keeps the number of instances that are there, as the last publications have told. A lower number counts after half a minute:
 * when Redis is back, it takes some seconds until all instances have published again.
 */
public final class InstanceCount {

    private volatile int instances;

    private boolean fewer;

    /** By the monotonic clock. */
    private long fewerSince;

    /** Returns the number; 0: it is not known. */
    public int get() {
        return instances;
    }

    synchronized void update(int counted, long nanos) {
        if (counted < instances && !fewer) {
            fewer = true;
            fewerSince = nanos;
        }
        if (counted >= instances || nanos - fewerSince >= RateLimitStatistics.PRESENCE.toNanos()) {
            fewer = false;
            instances = counted;
        }
    }

    /** Keeps the number while Redis does not tell another. */
    synchronized void keep() {
        fewer = false;
    }
}
