package io.ratelimit.internal.store.contract;

import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;

/** Makes the stores of a test class, for the contracts that are nested in it. */
@FunctionalInterface
public interface StoreFactory {

    /** Returns a new, empty store. */
    RateLimitStore storeAt(TimeSource time);
}
