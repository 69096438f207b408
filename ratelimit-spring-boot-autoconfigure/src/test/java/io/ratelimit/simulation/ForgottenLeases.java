package io.ratelimit.simulation;

import java.util.HashMap;
import java.util.Map;

/** What instances may still hand out of leases of one bucket that the store has forgotten (docs/accuracy.md). */
final class ForgottenLeases {

    /** A lease, and up to half as many permits more while it is renewed. */
    private static final double RENEWED = 1.5;

    private final Map<String, Double> left = new HashMap<>();

    /** When the last of those leases ends. */
    private long until;

    /** The store has forgotten the bucket. */
    void forget(long until) {
        this.until = until;
        left.clear();
    }

    /** An instance has learned that the bucket was changed, and has ended its lease. */
    void end(String instance) {
        left.put(instance, 0.0);
    }

    /** Returns how many permits of an admitted call may be of such a lease. */
    double take(Take take, long now) {
        if (take.numbers.lease() == 0 || now >= until) {
            return 0;
        }
        double most = left.getOrDefault(take.instance, RENEWED * (double) take.numbers.lease());
        double taken = Math.min(most, (double) take.permits);
        left.put(take.instance, most - taken);
        return taken;
    }
}
