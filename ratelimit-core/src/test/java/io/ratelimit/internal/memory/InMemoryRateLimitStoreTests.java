package io.ratelimit.internal.memory;

import io.ratelimit.internal.store.contract.StoreContracts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;

class InMemoryRateLimitStoreTests extends StoreContracts {

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }
}
