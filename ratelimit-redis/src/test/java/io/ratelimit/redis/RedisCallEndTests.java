package io.ratelimit.redis;

import io.ratelimit.internal.store.contract.CallEndContracts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.extension.RegisterExtension;

@LongRunning
class RedisCallEndTests extends CallEndContracts {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return redis.storeAt(time);
    }
}
