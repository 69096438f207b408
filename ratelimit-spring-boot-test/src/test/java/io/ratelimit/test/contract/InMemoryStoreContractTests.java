package io.ratelimit.test.contract;

import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;

/** The contract asks nothing that the reference does not do. */
class InMemoryStoreContractTests extends RateLimitStoreContract {

    @Override
    protected RateLimitStore store(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000_000);
    }
}
