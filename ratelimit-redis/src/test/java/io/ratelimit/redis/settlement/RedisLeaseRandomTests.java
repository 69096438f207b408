package io.ratelimit.redis.settlement;

import io.ratelimit.internal.store.lease.LeaseRandomContract;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.extension.RegisterExtension;

@LongRunning
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
