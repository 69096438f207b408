package io.ratelimit;

import org.junit.jupiter.api.Nested;

/** The reference against which stores are held keeps their contract itself. */
class ReferenceStoreTests {

    @Nested
    class OneLimit extends RateLimitStoreContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
    }

    @Nested
    class SeveralLimits extends SeveralLimitsContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
    }
}
