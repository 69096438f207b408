package io.ratelimit.test;

import io.ratelimit.RateLimiter;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions about a limiter. They consume no permits. */
public final class RateLimiterAssert extends AbstractAssert<RateLimiterAssert, RateLimiter> {

    RateLimiterAssert(@Nullable RateLimiter actual) {
        super(actual, RateLimiterAssert.class);
    }

    /** Selects the bucket of a key. */
    public BucketAssert key(String key) {
        isNotNull();
        return described(new BucketAssert(actual, key));
    }

    /** Selects the one bucket of all callers, which {@link RateLimiter#allCallers()} uses. */
    public BucketAssert allCallers() {
        isNotNull();
        return described(new BucketAssert(actual, null));
    }

    private BucketAssert described(BucketAssert bucket) {
        return info.hasDescription() ? bucket.as(info.description()) : bucket;
    }
}
