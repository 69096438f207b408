package io.ratelimit.internal.store.lease;

import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;

@BothTiers
class LeaseRandomTests extends LeaseRandomContract {

    LeaseRandomTests() {
        super(TestRandom.cases(2_000));
    }

    @Override
    protected RateLimitStore storeAt(TimeSource time) {
        return new ExactLeaseStore(time);
    }
}
