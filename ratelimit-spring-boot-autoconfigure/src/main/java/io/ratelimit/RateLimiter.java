package io.ratelimit;

import java.util.concurrent.CompletionStage;

/**
 * Applies one limit programmatically. Keys are neither null nor empty. If the store fails, every method can throw a
 * {@link RateLimitStoreException}, depending on {@link OnStoreFailure}. The blocking methods throw an
 * {@link IllegalStateException} on a thread that must not block, such as an event loop, if the store is remote.
 */
public interface RateLimiter {

    /** Takes one permit if it is available: {@link #tryAcquire(String, long)} for 1. */
    default RateLimitDecision tryAcquire(String key) {
        return tryAcquire(key, 1);
    }

    /**
     * Takes all permits or none, and does not wait. If the limit reserves permits ({@code maxWait}) or is a
     * {@link Algorithm#LEAKY_BUCKET}, the decision can have a {@link RateLimitDecision#delay() delay}: the permits are taken,
     * and you wait for this time before you proceed.
     *
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    RateLimitDecision tryAcquire(String key, long permits);

    /** Does the same as {@link #tryAcquire(String, long)} without blocking; exceptions complete the stage. */
    CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits);

    /**
     * Takes one permit and waits for exactly the delay of the decision. A token bucket reserves a permit at most
     * {@code maxWait} ahead, by default not at all; with a {@link Algorithm#LEAKY_BUCKET}, every call waits for its slot. A
     * limit in dry run never waits.
     *
     * @throws RateLimitExceededException at once, if no permit is available within {@code maxWait}
     * @throws RateLimitInterruptedException if the call has to wait and the thread is interrupted before or meanwhile; the
     *     interrupt flag is set, and the permit stays taken
     * @throws IllegalArgumentException if the key is null or empty
     */
    void acquire(String key);

    /**
     * Returns the decision that {@link #tryAcquire(String)} would return now, but with the current remaining and resetAfter.
     * Consumes no permits and does not wait. Permits that instances have leased count as used.
     */
    RateLimitDecision peek(String key);

    /** Fills the bucket of the key: deletes its state in the store. */
    void reset(String key);
}
