package io.ratelimit.internal.memory;

import io.ratelimit.internal.store.contract.CalendarTraceContract;
import io.ratelimit.spi.RateLimitStore;

class InMemoryCalendarTraceTests extends CalendarTraceContract {

    private final RateLimitStore store = new InMemoryRateLimitStore(clock, 1_000_000);

    @Override
    protected RateLimitStore store() {
        return store;
    }
}
