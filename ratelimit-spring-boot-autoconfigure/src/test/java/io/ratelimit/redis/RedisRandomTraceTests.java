package io.ratelimit.redis;

import io.ratelimit.RandomTraceContract;
import io.ratelimit.RateLimitStore;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisRandomTraceTests extends RandomTraceContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimitStore store = redis.storeAt(clock);

    @Override
    protected RateLimitStore store() {
        return store;
    }

    @Override
    protected int traces() {
        return 350;
    }
}
