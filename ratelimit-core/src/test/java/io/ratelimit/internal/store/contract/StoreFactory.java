package io.ratelimit.internal.store.contract;

import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.RateLimitStore;

/** Makes the stores of a test class, for the contracts that are nested in it. */
@FunctionalInterface
public interface StoreFactory {

    /** Returns a new, empty store. */
    RateLimitStore storeAt(TimeSource time);
}
