package io.ratelimit.internal.memory;

import io.ratelimit.internal.store.contract.CallEndContracts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;

class InMemoryCallEndTests extends CallEndContracts {

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }
}
