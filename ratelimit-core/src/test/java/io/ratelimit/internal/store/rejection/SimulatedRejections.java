package io.ratelimit.internal.store.rejection;

import io.ratelimit.spi.RateLimitStore;
import java.util.function.LongSupplier;

/** A rejection cache whose clock is the simulation's. */
public final class SimulatedRejections {

    private SimulatedRejections() {}

    public static RejectionCachingRateLimitStore over(RateLimitStore store, Runnable onCached, LongSupplier nanos) {
        return new RejectionCachingRateLimitStore(store, onCached, new RejectionCache(nanos));
    }
}
