package io.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The decision of a limit about a call. Times are exact to the microsecond, rounded up.
 *
 * @param allowed whether the call may proceed
 * @param capacity the maximum number of permits available at once
 * @param remaining the number of permits left after this call, rounded down
 * @param delay the time to wait before proceeding; zero unless permits were reserved or a {@link Algorithm#LEAKY_BUCKET}
 *     spaces calls
 * @param retryAfter zero if allowed; otherwise the time until the same call can succeed, assuming no other calls;
 *     {@code null} if it never can, because it requests more permits than the capacity
 * @param resetAfter the time until the bucket is full again
 */
public record RateLimitDecision(
        boolean allowed,
        long capacity,
        long remaining,
        Duration delay,
        @Nullable Duration retryAfter,
        Duration resetAfter) {

    /** Allows a call without charging it: its limit is disabled, or the store failed and the policy is to allow. */
    public static RateLimitDecision unlimited(long capacity) {
        return new RateLimitDecision(true, capacity, capacity, Duration.ZERO, Duration.ZERO, Duration.ZERO);
    }

    /**
     * Creates a decision from the numbers of a store. All times are microseconds below 2^53.
     *
     * @param delayMicros the {@link #delay}; 0: none
     * @param retryMicros the {@link #retryAfter}; 0 if the call is allowed, -1 if it can never succeed
     * @param resetMicros the {@link #resetAfter}; 0: the bucket is full
     */
    public static RateLimitDecision ofMicros(
            long capacity, long remaining, long delayMicros, long retryMicros, long resetMicros) {
        boolean allowed = retryMicros == 0;
        // First, so that the fields of the new object are set without barriers of the garbage collector.
        Duration delay = delayMicros == 0 ? Duration.ZERO : micros(delayMicros);
        Duration retryAfter = allowed ? Duration.ZERO : retryMicros < 0 ? null : micros(retryMicros);
        Duration resetAfter = micros(resetMicros);
        return new RateLimitDecision(allowed, capacity, remaining, delay, retryAfter, resetAfter);
    }

    /** Converts a number of a store, below 2^53, so that it fits in nanoseconds. */
    private static Duration micros(long micros) {
        return Duration.ofNanos(micros * 1_000);
    }

    /** Returns this decision without rejection or delay, as a limit in dry run applies it. */
    public RateLimitDecision asAllowed() {
        return allowed && delay.isZero()
                ? this
                : new RateLimitDecision(true, capacity, remaining, Duration.ZERO, Duration.ZERO, resetAfter);
    }

    /** Returns this decision with another delay. */
    public RateLimitDecision withDelay(Duration newDelay) {
        return delay.equals(newDelay)
                ? this
                : new RateLimitDecision(allowed, capacity, remaining, newDelay, retryAfter, resetAfter);
    }
}
