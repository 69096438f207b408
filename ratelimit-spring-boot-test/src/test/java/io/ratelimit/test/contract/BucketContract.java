package io.ratelimit.test.contract;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.List;

/** Compares {@link Bucket} with the times at which single permits are back. */
abstract class BucketContract extends RateLimitAlgorithmContract {

    @Override
    protected RateLimitAlgorithm algorithm() {
        return new Bucket();
    }

    @Override
    protected String redisUrl() {
        return "redis://" + SharedRedis.get().host() + ":" + SharedRedis.get().port();
    }

    @Override
    protected List<Numbers> numbers() {
        return List.of(new Numbers(5, "10/s"), new Numbers(20, "3/7s"));
    }

    /** A permit is back one after the other, the first of a full bucket after {@code periodMicros} parts of a microsecond. */
    @Override
    protected long available(Rule rule, List<AdmittedCall> admitted, long now) {
        long allBack = 0;
        for (AdmittedCall call : admitted) {
            allBack = Math.max(allBack, call.micros() * rule.permits()) + call.permits() * rule.periodMicros();
        }
        long missing = Math.max(0, allBack - now * rule.permits());
        return rule.capacity() - (missing + rule.periodMicros() - 1) / rule.periodMicros();
    }
}
