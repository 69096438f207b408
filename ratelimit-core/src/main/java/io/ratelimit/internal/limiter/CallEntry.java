package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.Charge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Holds the permits of a call, and replaces its estimates by the actual cost when that is known.
 *
 * @param estimates the charges that a cost replaces, also those of disabled limits, which have taken nothing
 */
record CallEntry(RateLimitGate gate, Settlement settlement, List<Charge> estimates) implements RateLimiter.Entry {

    @Override
    public void close() {
        settlement.release();
    }

    @Override
    public void settle(String limitName, long permits) {
        if (permits < 0 || permits > RateLimit.MAX_CAPACITY) {
            throw new IllegalArgumentException("Limit '" + limitName + "': permits must be from 0 to "
                    + RateLimit.MAX_CAPACITY + " (was " + permits + ")");
        }
        String id = LimitNames.canonical(limitName);
        Map<Charge, Long> costs = new HashMap<>();
        for (Charge charge : estimates) {
            if (charge.limit().id().equals(id)) {
                costs.put(charge, permits);
            }
        }
        if (costs.isEmpty()) {
            throw new IllegalArgumentException("Limit '" + limitName + "': the call must have an estimate for it");
        }
        gate.settle(settlement, costs);
    }
}
