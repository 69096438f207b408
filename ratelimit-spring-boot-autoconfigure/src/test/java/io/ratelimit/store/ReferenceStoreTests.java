package io.ratelimit.store;

import io.ratelimit.TimeSource;
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

    @Nested
    class EveryKind extends EveryKindContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
    }

    @Nested
    class Examples extends AlgorithmExamplesContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
    }

    @Nested
    class Reservations extends ReservationContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
    }

    @Nested
    class WorkedExamples extends WorkedExamplesContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return new ReferenceStore(time);
        }
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
