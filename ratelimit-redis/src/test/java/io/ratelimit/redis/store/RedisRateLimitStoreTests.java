package io.ratelimit.redis.store;

import io.ratelimit.internal.store.contract.StoreContracts;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisRateLimitStoreTests extends StoreContracts {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return redis.storeAt(time);
    }
}
