package io.ratelimit;

import java.util.concurrent.CompletionStage;

/**
 * One limit, asked by hand. Keys are neither null nor empty. Every method that asks the store can throw
 * {@link RateLimitStoreException} where {@link OnStoreFailure#THROW} or {@link OnStoreFailure#REJECT} says so.
 */
public interface RateLimiter {

    /** Takes one permit from the key's bucket, if it is there. */
    default RateLimitDecision tryAcquire(String key) {
        return tryAcquire(key, 1);
    }

    /**
     * Takes all the permits or none.
     *
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    RateLimitDecision tryAcquire(String key, long permits);

    /** As {@link #tryAcquire(String, long)}, without blocking; what that throws, the stage completes with. */
    CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits);

    /**
     * Takes one permit, waiting for it up to the limit's {@code maxWait}.
     *
     * @throws RateLimitExceededException if it is not to be had by then
     */
    void acquire(String key);

    /** What {@link #tryAcquire(String)} would answer now. Consumes nothing. */
    RateLimitDecision peek(String key);

    /** Forgets what the key has consumed. */
    void reset(String key);
}
