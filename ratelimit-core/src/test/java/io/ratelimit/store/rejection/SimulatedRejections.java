package io.ratelimit.store.rejection;

import io.ratelimit.store.RateLimitStore;
import java.util.function.LongSupplier;

/** A rejection cache whose clock is the simulation's. */
public final class SimulatedRejections {

    private SimulatedRejections() {}

    public static RejectionCachingRateLimitStore over(RateLimitStore store, Runnable onCached, LongSupplier nanos) {
        return new RejectionCachingRateLimitStore(store, onCached, nanos);
    }
}
