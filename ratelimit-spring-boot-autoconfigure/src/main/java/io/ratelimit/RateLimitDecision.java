package io.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What became of a call. Times are exact to the microsecond, rounded up.
 *
 * @param allowed whether it may go on
 * @param capacity the most permits that can be taken at once
 * @param remaining the permits left after this call, rounded down
 * @param delay wait so long before going on; zero unless permits were reserved ahead, or a {@link Algorithm#LEAKY_BUCKET}
 *     spaces calls out
 * @param retryAfter zero when allowed; else the time until the same call could succeed if nobody else called;
 *     {@code null} if it never can, because it asks for more than the capacity
 * @param resetAfter until the bucket is as if never used
 */
public record RateLimitDecision(
        boolean allowed,
        long capacity,
        long remaining,
        Duration delay,
        @Nullable Duration retryAfter,
        Duration resetAfter) {

    /** Lets a call pass that nothing was charged for: its limit is disabled, or the store failed and the policy allows. */
    public static RateLimitDecision unlimited(long capacity) {
        return new RateLimitDecision(true, capacity, capacity, Duration.ZERO, Duration.ZERO, Duration.ZERO);
    }

    /**
     * From a store's numbers.
     *
     * @param retryMicros 0 if the permits are there, -1 if they never can be
     */
    public static RateLimitDecision ofMicros(
            long capacity, long remaining, long delayMicros, long retryMicros, long resetMicros) {
        return new RateLimitDecision(
                retryMicros == 0,
                capacity,
                remaining,
                micros(delayMicros),
                retryMicros < 0 ? null : micros(retryMicros),
                micros(resetMicros));
    }

    /** Stores' numbers are below 2^53: in nanoseconds they still fit. */
    private static Duration micros(long micros) {
        return micros == 0 ? Duration.ZERO : Duration.ofNanos(micros * 1_000);
    }

    /** Of a limit in dry run: nobody is rejected by it, nor has to wait for it. */
    public RateLimitDecision letThrough() {
        return allowed && delay.isZero()
                ? this
                : new RateLimitDecision(true, capacity, remaining, Duration.ZERO, Duration.ZERO, resetAfter);
    }

    /** The same, but for the wait before going on. */
    public RateLimitDecision withDelay(Duration longest) {
        return delay.equals(longest)
                ? this
                : new RateLimitDecision(allowed, capacity, remaining, longest, retryAfter, resetAfter);
    }
}
