package io.ratelimit.redis;

import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.contract.StoreContracts;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisRateLimitStoreTests extends StoreContracts {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return redis.storeAt(time);
    }
}
