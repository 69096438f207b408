package io.ratelimit.test;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import org.jspecify.annotations.Nullable;

/**
 * Entry points of the assertions. Import them beside those of AssertJ.
 *
 * <pre>{@code
 * assertThat(limiter).key("alice").hasRemaining(3);
 * assertThat(limiter.tryAcquire("alice")).isAllowed();
 * }</pre>
 */
public final class RateLimitAssertions {

    private RateLimitAssertions() {}

    /** Creates assertions about the buckets of a limiter. */
    public static RateLimiterAssert assertThat(@Nullable RateLimiter actual) {
        return new RateLimiterAssert(actual);
    }

    /** Creates assertions about a decision. */
    public static RateLimitDecisionAssert assertThat(@Nullable RateLimitDecision actual) {
        return new RateLimitDecisionAssert(actual);
    }
}
