package io.ratelimit.redis;

import io.ratelimit.internal.store.contract.RandomTraceContract;
import io.ratelimit.spi.RateLimitStore;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clock of one instance, in place of a server's that refuses {@code TIME}. */
class InstanceClockTraceTests extends RandomTraceContract {

    @RegisterExtension
    static final RedisWithoutTime redis = new RedisWithoutTime();

    private final RateLimitStore store = redis.storeAt(clock);

    @Override
    protected RateLimitStore store() {
        return store;
    }

    @Override
    protected int decisions() {
        return 10_000;
    }
}
