package io.ratelimit.memory;

import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.contract.StoreContracts;

class InMemoryRateLimitStoreTests extends StoreContracts {

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }
}
