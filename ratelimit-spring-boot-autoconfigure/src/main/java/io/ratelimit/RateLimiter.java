package io.ratelimit;

import java.util.concurrent.CompletionStage;

/**
 * One limit, asked by hand. Keys are neither null nor empty. Every method that asks the store can throw
 * {@link RateLimitStoreException} where {@link OnStoreFailure#THROW} or {@link OnStoreFailure#REJECT} says so.
 */
public interface RateLimiter {

    /** Takes one permit from the key's bucket, if it is there: {@link #tryAcquire(String, long)} of 1. */
    default RateLimitDecision tryAcquire(String key) {
        return tryAcquire(key, 1);
    }

    /**
     * Takes all the permits or none, and does not wait. Where permits are reserved ahead, or a
     * {@link Algorithm#LEAKY_BUCKET} spaces calls out, they are taken all the same, and it is for the caller to wait for
     * the decision's {@link RateLimitDecision#delay() delay} before going on.
     *
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    RateLimitDecision tryAcquire(String key, long permits);

    /** As {@link #tryAcquire(String, long)}, without blocking; what that throws, the stage completes with. */
    CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits);

    /**
     * Takes one permit and waits until it is there: once, for exactly the decision's delay. A token bucket reserves as far
     * ahead as {@code maxWait}, by default not at all; a {@link Algorithm#LEAKY_BUCKET} makes every call wait for its
     * slot. A limit in dry run makes nobody wait.
     *
     * @throws RateLimitExceededException if the permit is not to be had, {@code maxWait} ahead neither; without a wait
     * @throws RateLimitInterruptedException if the thread is interrupted while it waits, or has to wait and was
     *     interrupted before; it stays marked as interrupted, and the permit stays taken
     * @throws IllegalArgumentException if the key is null or empty
     */
    void acquire(String key);

    /**
     * Whether {@link #tryAcquire(String)} would be allowed now, and with what delay or retryAfter; remaining and resetAfter
     * are those of the present. Consumes nothing and does not wait. Permits that instances have leased count as used, those of
     * this one too.
     */
    RateLimitDecision peek(String key);

    /** Forgets what the key has consumed. */
    void reset(String key);
}
