package io.ratelimit.internal.store.failover;

import io.ratelimit.spi.RateLimitStore;
import java.util.function.LongSupplier;

/** Failover whose clock is the simulation's. */
public final class SimulatedFailover {

    private SimulatedFailover() {}

    public static FailoverRateLimitStore over(RateLimitStore store, RateLimitStore local, LongSupplier nanos) {
        return new FailoverRateLimitStore(store, local, event -> {}, nanos, null);
    }
}
