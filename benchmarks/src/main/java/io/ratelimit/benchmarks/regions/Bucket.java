package io.ratelimit.benchmarks.regions;

/** A token bucket in rounded arithmetic, which is exact enough here. */
final class Bucket {

    private double capacity;

    private double rate;

    private double tokens;

    private double since;

    Bucket(double capacity, double rate) {
        this.capacity = capacity;
        this.rate = rate;
        this.tokens = capacity;
    }

    boolean take(double now, int permits) {
        refill(now);
        if (tokens < permits) {
            return false;
        }
        tokens -= permits;
        return true;
    }

    double available(double now) {
        refill(now);
        return tokens;
    }

    /** Changes the numbers; what was used stays used. */
    void change(double now, double newCapacity, double newRate) {
        refill(now);
        tokens = Math.max(0, newCapacity - (capacity - tokens));
        capacity = newCapacity;
        rate = newRate;
    }

    private void refill(double now) {
        tokens = Math.min(capacity, tokens + (now - since) * rate);
        since = now;
    }
}
