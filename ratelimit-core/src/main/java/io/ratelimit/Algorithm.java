package io.ratelimit;

import io.ratelimit.internal.limit.AlgorithmTraits;

/**
 * Decides how permits are taken and come back. All algorithms but {@link #CONCURRENCY} share one pair of numbers: at most
 * {@code capacity} permits at once, at most {@code rate} on average.
 */
public enum Algorithm {

    /**
     * Starts full, refills at the rate, up to the capacity; a call is allowed if the bucket holds its permits (also known as
     * GCRA).
     */
    TOKEN_BUCKET(AlgorithmTraits.TOKEN_BUCKET),

    /**
     * Admits the calls that {@link #TOKEN_BUCKET} would and spaces them out: a call takes the next free slots, one for
     * each permit and {@code 1/rate} apart, and its {@link RateLimitDecision#delay() delay} is the time until the first of
     * them. Annotated methods and {@link RateLimiter#acquire} wait for it.
     */
    LEAKY_BUCKET(AlgorithmTraits.LEAKY_BUCKET),

    /**
     * Fixed windows of {@code capacity / rate}; a window starts with the first call that takes permits after the previous one
     * ended. Around an edge, almost twice the capacity can be allowed.
     */
    FIXED_WINDOW(AlgorithmTraits.FIXED_WINDOW),

    /** Two fixed windows aligned to the epoch, the previous one weighted by the share of it that is still in view. */
    SLIDING_WINDOW(AlgorithmTraits.SLIDING_WINDOW),

    /** Sliding log, exact: the permits taken during the last {@code capacity / rate} never exceed the capacity. */
    SLIDING_WINDOW_LOG(AlgorithmTraits.SLIDING_WINDOW_LOG),

    /**
     * Has no rate: a call holds its permits until it ends, and is allowed if no more than {@code capacity} permits are held then
     * (also known as a bulkhead, or a distributed semaphore). The {@link RateLimitDecision#retryAfter() retryAfter} and
     * {@link RateLimitDecision#resetAfter() resetAfter} of its decisions are a second, because nothing tells when a call ends.
     */
    CONCURRENCY(AlgorithmTraits.CONCURRENCY);

    /** What is specific to the algorithm, with refill CONTINUOUS. */
    final AlgorithmTraits traits;

    Algorithm(AlgorithmTraits traits) {
        this.traits = traits;
    }
}
