package io.ratelimit.memory;

import io.ratelimit.TimeSource;
import io.ratelimit.store.AlgorithmExamplesContract;
import io.ratelimit.store.ChangedLimitContract;
import io.ratelimit.store.ClockContract;
import io.ratelimit.store.EveryKindContract;
import io.ratelimit.store.EveryRuleCountsContract;
import io.ratelimit.store.GiveBackContract;
import io.ratelimit.store.LogGiveBackContract;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.RateLimitStoreContract;
import io.ratelimit.store.RefundContract;
import io.ratelimit.store.ReservationContract;
import io.ratelimit.store.RulesInTurnsContract;
import io.ratelimit.store.SeveralLimitsContract;
import io.ratelimit.store.WorkedExamplesContract;
import org.junit.jupiter.api.Nested;

/** The contract of every store, in memory. */
class InMemoryRateLimitStoreTests {

    private static RateLimitStore create(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }

    @Nested
    class OneLimit extends RateLimitStoreContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class SeveralLimits extends SeveralLimitsContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class ChangedLimit extends ChangedLimitContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class Clock extends ClockContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class EveryKind extends EveryKindContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class Examples extends AlgorithmExamplesContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class Reservations extends ReservationContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class WorkedExamples extends WorkedExamplesContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class RulesInTurns extends RulesInTurnsContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class EveryRuleCounts extends EveryRuleCountsContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class GiveBack extends GiveBackContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class LogGiveBack extends LogGiveBackContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }

    @Nested
    class Refunds extends RefundContract {

        @Override
        protected RateLimitStore storeAt(TimeSource time) {
            return create(time);
        }
    }
}
