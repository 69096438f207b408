package com.acme.limits;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.test.contract.AdmittedCall;
import io.ratelimit.test.contract.RateLimitAlgorithmContract;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.List;

/** Compares the algorithm with a bucket that is refilled hour by hour. */
class FasterByNightTests extends RateLimitAlgorithmContract {

    private static final long HOUR = 3_600_000_000L;

    @Override
    protected RateLimitAlgorithm algorithm() {
        return new FasterByNight(22, 6, 3);
    }

    @Override
    protected String redisUrl() {
        return "redis://" + SharedRedis.get().host() + ":" + SharedRedis.get().port();
    }

    /** Some take days to refill. */
    @Override
    protected List<Numbers> numbers() {
        return List.of(
                new Numbers(1, "1/s"), new Numbers(5, "3/7s"), new Numbers(20, "1/h"), new Numbers(1_000, "1000/d"));
    }

    /** In parts of a microsecond: what a permit takes is {@code periodMicros} of them. */
    @Override
    protected long available(Rule rule, List<AdmittedCall> admitted, long now) {
        long missing = 0;
        long time = now;
        for (AdmittedCall call : admitted) {
            missing = Math.max(0, missing - rule.permits() * refilledTime(time, call.micros()));
            missing += call.permits() * rule.periodMicros();
            time = call.micros();
        }
        missing = Math.max(0, missing - rule.permits() * refilledTime(time, now));
        return (rule.capacity() * rule.periodMicros() - missing) / rule.periodMicros();
    }

    private static long refilledTime(long from, long to) {
        long refilled = 0;
        for (long time = from; time < to; ) {
            long end = Math.min(to, (time / HOUR + 1) * HOUR);
            long hour = time / HOUR % 24;
            refilled += (end - time) * (hour >= 22 || hour < 6 ? 3 : 1);
            time = end;
        }
        return refilled;
    }
}
