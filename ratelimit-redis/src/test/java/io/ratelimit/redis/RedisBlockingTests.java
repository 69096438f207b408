package io.ratelimit.redis;

import io.ratelimit.internal.store.contract.BlockingTraceContract;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.extension.RegisterExtension;

@LongRunning
class RedisBlockingTests extends BlockingTraceContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final FakeTimeScriptExecutor scripts = FakeTimeScriptExecutor.collecting(redis.connections(), clock);

    private final RateLimitStore store = TestStores.oneByOne(scripts, RedisUnderTest.newPrefix());

    @Override
    protected RateLimitStore store() {
        return store;
    }

    @Override
    protected void flush() {
        scripts.flush();
    }
}
