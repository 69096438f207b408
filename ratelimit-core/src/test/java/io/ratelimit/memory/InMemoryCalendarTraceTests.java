package io.ratelimit.memory;

import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.contract.CalendarTraceContract;

class InMemoryCalendarTraceTests extends CalendarTraceContract {

    private final RateLimitStore store = new InMemoryRateLimitStore(clock, 1_000_000);

    @Override
    protected RateLimitStore store() {
        return store;
    }
}
