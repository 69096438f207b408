package io.ratelimit.test;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import java.time.Duration;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions about one bucket, at the current time. They consume no permits. */
public final class BucketAssert extends AbstractAssert<BucketAssert, RateLimiter> {

    private final @Nullable String key;

    /** @param key {@code null}: the one bucket of all callers */
    BucketAssert(RateLimiter actual, @Nullable String key) {
        super(actual, BucketAssert.class);
        this.key = key;
    }

    /** Verifies the number of permits left. */
    public BucketAssert hasRemaining(long permits) {
        bucket().hasRemaining(permits);
        return this;
    }

    /** Verifies the maximum number of permits. */
    public BucketAssert hasCapacity(long permits) {
        bucket().hasCapacity(permits);
        return this;
    }

    /** Verifies that no permits are in use. */
    public BucketAssert isFull() {
        RateLimitDecision bucket = peek();
        bucket().hasRemaining(bucket.capacity()).hasResetAfter(Duration.ZERO);
        return this;
    }

    /** Verifies that a call for one permit would be rejected now. */
    public BucketAssert isExhausted() {
        bucket().isRejected();
        return this;
    }

    /** Verifies that a call for one permit would be allowed now. */
    public BucketAssert isNotExhausted() {
        bucket().isAllowed();
        return this;
    }

    /** Verifies the time until a call for one permit is allowed; zero if it is allowed now. */
    public BucketAssert hasRetryAfter(Duration time) {
        bucket().hasRetryAfter(time);
        return this;
    }

    /** Verifies the time until the bucket is full again. */
    public BucketAssert hasResetAfter(Duration time) {
        bucket().hasResetAfter(time);
        return this;
    }

    private RateLimitDecisionAssert bucket() {
        RateLimitDecisionAssert decision = new RateLimitDecisionAssert(peek());
        if (info.hasDescription()) {
            return decision.as(info.description());
        }
        return key == null ? decision.as("bucket of all callers") : decision.as("bucket of key '%s'", key);
    }

    private RateLimitDecision peek() {
        return key == null ? actual.allCallers().peek() : actual.peek(key);
    }
}
