package io.ratelimit.internal.memory;

import io.ratelimit.internal.store.contract.RandomTraceContract;
import io.ratelimit.spi.RateLimitStore;

class InMemoryRandomTraceTests extends RandomTraceContract {

    private final RateLimitStore store = new InMemoryRateLimitStore(clock, 1_000_000);

    @Override
    protected RateLimitStore store() {
        return store;
    }
}
