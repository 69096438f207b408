package io.ratelimit.testing.reference;

import io.ratelimit.internal.store.contract.DecisionContracts;
import io.ratelimit.internal.store.contract.RandomTraceContract;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.junit.jupiter.api.Nested;

/** The reference against which stores are held keeps their contract itself. */
class ReferenceStoreTests extends DecisionContracts {

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new ReferenceStore(time);
    }

    /** It keeps its own promises. */
    @Nested
    class Traces extends RandomTraceContract {

        private final RateLimitStore store = new ReferenceStore(clock);

        @Override
        protected RateLimitStore store() {
            return store;
        }

        @Override
        protected int decisions() {
            return 5_000;
        }
    }
}
