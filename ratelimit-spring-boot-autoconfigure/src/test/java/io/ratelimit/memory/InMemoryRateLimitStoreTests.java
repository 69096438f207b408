package io.ratelimit.memory;

import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.contract.HoldingContract;
import io.ratelimit.store.contract.HoldingTraceContract;
import io.ratelimit.store.contract.StoreContracts;
import org.junit.jupiter.api.Nested;

class InMemoryRateLimitStoreTests extends StoreContracts {

    @Nested
    class Holding extends HoldingContract {}

    @Nested
    class HoldingTrace extends HoldingTraceContract {}

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }
}
