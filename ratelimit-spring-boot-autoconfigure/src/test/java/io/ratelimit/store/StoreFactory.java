package io.ratelimit.store;

import io.ratelimit.TimeSource;

/** Makes the stores of a test class, for the contracts that are nested in it. */
@FunctionalInterface
public interface StoreFactory {

    /** Returns a new, empty store. */
    RateLimitStore storeAt(TimeSource time);
}
