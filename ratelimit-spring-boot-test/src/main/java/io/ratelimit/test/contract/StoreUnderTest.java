package io.ratelimit.test.contract;

import io.ratelimit.spi.RateLimitStore;
import java.util.function.LongSupplier;

/**
 * A store that decides by one of the forms of an algorithm.
 *
 * @param name what it runs, for messages
 * @param expiryMillis returns when the key that was last written expires; -1 if the last decision wrote none, or there are no keys
 */
record StoreUnderTest(String name, RateLimitStore store, LongSupplier expiryMillis) {}
