package io.ratelimit.redis;

import io.ratelimit.internal.store.contract.CallEndContracts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisCallEndTests extends CallEndContracts {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return redis.storeAt(time);
    }
}
