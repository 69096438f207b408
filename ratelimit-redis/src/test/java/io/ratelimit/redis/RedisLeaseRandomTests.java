package io.ratelimit.redis;

import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.lease.LeaseRandomContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisLeaseRandomTests extends LeaseRandomContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    RedisLeaseRandomTests() {
        super(30);
    }

    @Override
    protected RateLimitStore storeAt(TimeSource time) {
        return TestStores.over(redis.executorAt(time), RedisUnderTest.newPrefix());
    }
}
