package io.ratelimit.redis;

import io.ratelimit.store.RandomTraceContract;
import io.ratelimit.store.RateLimitStore;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisRandomTraceTests extends RandomTraceContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final BatchScriptExecutor batches = new BatchScriptExecutor(redis.connections(), clock);

    private final RateLimitStore store = TestStores.oneByOne(batches, RedisUnderTest.newPrefix());

    @Override
    protected RateLimitStore store() {
        return store;
    }

    @Override
    protected void flush() {
        batches.flush();
    }
}
