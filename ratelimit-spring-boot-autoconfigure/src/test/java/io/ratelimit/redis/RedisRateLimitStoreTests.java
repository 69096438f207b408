package io.ratelimit.redis;

import io.ratelimit.AlgorithmExamplesContract;
import io.ratelimit.ChangedLimitContract;
import io.ratelimit.ClockContract;
import io.ratelimit.EveryKindContract;
import io.ratelimit.EveryRuleCountsContract;
import io.ratelimit.GiveBackContract;
import io.ratelimit.LogGiveBackContract;
import io.ratelimit.RateLimitStore;
import io.ratelimit.RateLimitStoreContract;
import io.ratelimit.RefundContract;
import io.ratelimit.ReservationContract;
import io.ratelimit.RulesInTurnsContract;
import io.ratelimit.SeveralLimitsContract;
import io.ratelimit.TimeSource;
import io.ratelimit.WorkedExamplesContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of every store, on a Redis whose clock is the test's. */
class RedisRateLimitStoreTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static RateLimitStore create(TimeSource time) {
        return redis.storeAt(time);
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
