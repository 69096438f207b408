package io.ratelimit.redis;

import io.ratelimit.internal.store.contract.CalendarTraceContract;
import io.ratelimit.spi.RateLimitStore;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisCalendarTraceTests extends CalendarTraceContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimitStore store = redis.storeAt(clock);

    @Override
    protected RateLimitStore store() {
        return store;
    }
}
