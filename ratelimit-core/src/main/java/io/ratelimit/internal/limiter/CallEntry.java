package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.Charge;
import java.util.List;

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
        List<Charge> settled = estimates.stream()
                .filter(charge -> charge.limit().id().equals(id))
                .toList();
        if (settled.isEmpty()) {
            throw new IllegalArgumentException("Limit '" + limitName + "': the call must have an estimate for it");
        }
        settled.forEach(charge -> gate.settle(settlement, charge, () -> permits));
    }
}
