package io.ratelimit.store.lease;

import io.ratelimit.TimeSource;
import io.ratelimit.memory.ExactLeaseStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.testing.TestRandom;

class LeaseRandomTests extends LeaseRandomContract {

    LeaseRandomTests() {
        super(TestRandom.cases(2_000));
    }

    @Override
    protected RateLimitStore storeAt(TimeSource time) {
        return new ExactLeaseStore(time);
    }
}
