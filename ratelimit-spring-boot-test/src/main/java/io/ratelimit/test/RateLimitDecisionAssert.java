package io.ratelimit.test;

import io.ratelimit.RateLimitDecision;
import java.time.Duration;
import java.util.Objects;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions about a decision. */
public final class RateLimitDecisionAssert extends AbstractAssert<RateLimitDecisionAssert, RateLimitDecision> {

    RateLimitDecisionAssert(@Nullable RateLimitDecision actual) {
        super(actual, RateLimitDecisionAssert.class);
    }

    /** Verifies that the call may proceed, at once or after the delay. */
    public RateLimitDecisionAssert isAllowed() {
        isNotNull();
        if (!actual.allowed()) {
            failWithMessage("%nExpecting the call to be allowed but it was rejected:%n  %s", actual);
        }
        return this;
    }

    /** Verifies that the call is rejected. */
    public RateLimitDecisionAssert isRejected() {
        isNotNull();
        if (actual.allowed()) {
            failWithMessage("%nExpecting the call to be rejected but it was allowed:%n  %s", actual);
        }
        return this;
    }

    /** Verifies the maximum number of permits. */
    public RateLimitDecisionAssert hasCapacity(long permits) {
        isNotNull();
        return has("capacity", permits, actual.capacity());
    }

    /** Verifies the number of permits left after the call. */
    public RateLimitDecisionAssert hasRemaining(long permits) {
        isNotNull();
        return has("remaining", permits, actual.remaining());
    }

    /** Verifies the time to wait before the call proceeds. */
    public RateLimitDecisionAssert hasDelay(Duration time) {
        isNotNull();
        return has("delay", time, actual.delay());
    }

    /** Verifies the time until the same call can succeed; zero if it is allowed. */
    public RateLimitDecisionAssert hasRetryAfter(Duration time) {
        isNotNull();
        return has("retryAfter", time, actual.retryAfter());
    }

    /** Verifies that the same call can never succeed, because it requests more permits than the capacity. */
    public RateLimitDecisionAssert canNeverSucceed() {
        isNotNull();
        return has("retryAfter", null, actual.retryAfter());
    }

    /** Verifies the time until the bucket is full again. */
    public RateLimitDecisionAssert hasResetAfter(Duration time) {
        isNotNull();
        return has("resetAfter", time, actual.resetAfter());
    }

    private RateLimitDecisionAssert has(String name, @Nullable Object expected, @Nullable Object found) {
        if (!Objects.equals(expected, found)) {
            throw failureWithActualExpected(
                    found, expected, "%nExpecting %s:%n  %s%nbut was:%n  %s%nin:%n  %s", name, expected, found, actual);
        }
        return this;
    }
}
