package io.ratelimit.store.contract;

import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;

/** Makes the stores of a test class, for the contracts that are nested in it. */
@FunctionalInterface
public interface StoreFactory {

    /** Returns a new, empty store. */
    RateLimitStore storeAt(TimeSource time);
}
