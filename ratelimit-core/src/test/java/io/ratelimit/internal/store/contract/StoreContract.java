package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A store of the test class in which the contract is nested, the time it is there, and short words for what is asked of it.
 */
@ExtendWith(EnclosingStoreFactory.class)
public abstract class StoreContract {

    protected static final String KEY = "alice";

    protected static final long SECOND = 1_000_000;

    protected static final long HOUR = 3_600 * SECOND;

    protected final TestClock clock = new TestClock();

    protected RateLimitStore store;

    @BeforeEach
    void createStore(StoreFactory stores) {
        store = stores.storeAt(clock);
    }

    protected RateLimitDecision take(RateLimit limit, long permits) {
        return store.decide(new Charge(limit, KEY, permits)).await().decision();
    }

    protected RateLimitDecision peek(RateLimit limit, long permits) {
        return store.decide(StoreRequest.peek(new Charge(limit, KEY, permits)))
                .await()
                .decision();
    }

    protected long remaining(RateLimit limit) {
        return peek(limit, 0).remaining();
    }

    /** One charge of one permit for each limit. */
    protected List<RateLimitDecision> takeOneOfEach(RateLimit... limits) {
        return store.decide(StoreRequest.of(List.of(limits).stream()
                        .map(limit -> new Charge(limit, KEY, 1))
                        .toList()))
                .await()
                .decisions();
    }

    protected static RateLimitDecision allowed(long capacity, long remaining, Duration reset) {
        return new RateLimitDecision(true, capacity, remaining, Duration.ZERO, Duration.ZERO, reset);
    }

    protected static RateLimitDecision rejected(
            long capacity, long remaining, @Nullable Duration retry, Duration reset) {
        return new RateLimitDecision(false, capacity, remaining, Duration.ZERO, retry, reset);
    }
}
