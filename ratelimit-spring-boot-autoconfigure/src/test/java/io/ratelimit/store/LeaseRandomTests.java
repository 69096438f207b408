package io.ratelimit.store;

import io.ratelimit.TestRandom;
import io.ratelimit.TimeSource;
import io.ratelimit.memory.ExactLeaseStore;

class LeaseRandomTests extends LeaseRandomContract {

    LeaseRandomTests() {
        super(TestRandom.cases(2_000));
    }

    @Override
    protected RateLimitStore storeAt(TimeSource time) {
        return new ExactLeaseStore(time);
    }
}
