package io.ratelimit;

/**
 * How permits are taken and come back. All share one pair of numbers: at most {@code capacity} at once, at most
 * {@code rate} in the long run.
 */
public enum Algorithm {

    /** Starts full, refills at the rate, up to the capacity; a call passes if the bucket holds its permits. */
    TOKEN_BUCKET,

    /**
     * Admits the calls that {@link #TOKEN_BUCKET} would and spaces them out: a call takes the next free slots, one for
     * each permit and {@code 1/rate} apart, and its {@link RateLimitDecision#delay() delay} is the time until the first of
     * them. Annotated methods and {@link RateLimiter#acquire} wait for it.
     */
    LEAKY_BUCKET,

    /**
     * Windows of {@code capacity / rate}; one opens with the first call that takes something after the last one ended.
     * Around an edge almost twice the capacity can pass.
     */
    FIXED_WINDOW,

    /** Windows aligned to the epoch, the previous one weighted by the share of it that is still in view. */
    SLIDING_WINDOW,

    /** Exact: the permits taken during the last {@code capacity / rate} never exceed the capacity. */
    SLIDING_WINDOW_LOG
}
