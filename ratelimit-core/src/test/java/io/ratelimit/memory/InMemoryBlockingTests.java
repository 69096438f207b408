package io.ratelimit.memory;

import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.contract.BlockingTraceContract;

class InMemoryBlockingTests extends BlockingTraceContract {

    private final RateLimitStore store = new InMemoryRateLimitStore(clock, 1_000_000);

    @Override
    protected RateLimitStore store() {
        return store;
    }
}
