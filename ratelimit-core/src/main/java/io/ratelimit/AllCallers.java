package io.ratelimit;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies a limit to all callers together, as an annotation without a {@code keyExpression} does. Each method is that of
 * {@link RateLimiter}, without a key.
 *
 * <pre>{@code
 * limiter.allCallers().tryAcquire();
 * }</pre>
 */
public final class AllCallers {

    private static final String KEY = "all callers";

    private final RateLimiter limiter;

    /**
     * Creates the methods for the one bucket of a limiter.
     *
     * @param limiter has the same bucket for every key
     */
    public AllCallers(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /**
     * Takes one permit if it is available.
     *
     * @see RateLimiter#tryAcquire(String)
     */
    public RateLimitDecision tryAcquire() {
        return limiter.tryAcquire(KEY);
    }

    /**
     * Takes all permits or none, and does not wait.
     *
     * @see RateLimiter#tryAcquire(String, long)
     */
    public RateLimitDecision tryAcquire(long permits) {
        return limiter.tryAcquire(KEY, permits);
    }

    /**
     * Takes one permit if it is available, without blocking.
     *
     * @see RateLimiter#tryAcquireAsync(String)
     */
    public CompletionStage<RateLimitDecision> tryAcquireAsync() {
        return limiter.tryAcquireAsync(KEY);
    }

    /**
     * Takes all permits or none, without blocking.
     *
     * @see RateLimiter#tryAcquireAsync(String, long)
     */
    public CompletionStage<RateLimitDecision> tryAcquireAsync(long permits) {
        return limiter.tryAcquireAsync(KEY, permits);
    }

    /**
     * Takes one permit, and waits for it if necessary.
     *
     * @see RateLimiter#acquire(String)
     */
    public void acquire() {
        limiter.acquire(KEY);
    }

    /**
     * Takes all permits, and waits for them if necessary.
     *
     * @see RateLimiter#acquire(String, long)
     */
    public void acquire(long permits) {
        limiter.acquire(KEY, permits);
    }

    /**
     * Takes one permit, and waits for it without blocking.
     *
     * @see RateLimiter#acquireAsync(String)
     */
    public CompletionStage<Void> acquireAsync() {
        return limiter.acquireAsync(KEY);
    }

    /**
     * Takes all permits, and waits for them without blocking.
     *
     * @see RateLimiter#acquireAsync(String, long)
     */
    public CompletionStage<Void> acquireAsync(long permits) {
        return limiter.acquireAsync(KEY, permits);
    }

    /**
     * Begins a call, which holds one permit.
     *
     * @see RateLimiter#enter(String)
     */
    public RateLimiter.Entry enter() {
        return limiter.enter(KEY);
    }

    /**
     * Begins a call, which holds the permits.
     *
     * @see RateLimiter#enter(String, long)
     */
    public RateLimiter.Entry enter(long permits) {
        return limiter.enter(KEY, permits);
    }

    /**
     * Begins a call, which holds one permit, without blocking.
     *
     * @see RateLimiter#enterAsync(String)
     */
    public CompletionStage<RateLimiter.Entry> enterAsync() {
        return limiter.enterAsync(KEY);
    }

    /**
     * Begins a call, which holds the permits, without blocking.
     *
     * @see RateLimiter#enterAsync(String, long)
     */
    public CompletionStage<RateLimiter.Entry> enterAsync(long permits) {
        return limiter.enterAsync(KEY, permits);
    }

    /**
     * Does the work while it holds one permit.
     *
     * @throws Exception that of the work
     * @see RateLimiter#call(String, Callable)
     */
    public <T extends @Nullable Object> T call(Callable<T> work) throws Exception {
        return limiter.call(KEY, work);
    }

    /**
     * Starts the work, and holds one permit until its stage is complete.
     *
     * @see RateLimiter#callAsync(String, Supplier)
     */
    public <T extends @Nullable Object> CompletionStage<T> callAsync(Supplier<? extends CompletionStage<T>> work) {
        return limiter.callAsync(KEY, work);
    }

    /**
     * Charges what a call has cost.
     *
     * @see RateLimiter#charge(String, long)
     */
    public void charge(long permits) {
        limiter.charge(KEY, permits);
    }

    /**
     * Charges what a call has cost, without blocking.
     *
     * @see RateLimiter#chargeAsync(String, long)
     */
    public CompletionStage<Void> chargeAsync(long permits) {
        return limiter.chargeAsync(KEY, permits);
    }

    /**
     * Returns the decision that a call for one permit would get now.
     *
     * @see RateLimiter#peek(String)
     */
    public RateLimitDecision peek() {
        return limiter.peek(KEY);
    }

    /**
     * Returns the decision that a call for one permit would get now, without blocking.
     *
     * @see RateLimiter#peekAsync(String)
     */
    public CompletionStage<RateLimitDecision> peekAsync() {
        return limiter.peekAsync(KEY);
    }

    /**
     * Fills the bucket.
     *
     * @see RateLimiter#reset(String)
     */
    public void reset() {
        limiter.reset(KEY);
    }

    /**
     * Fills the bucket, without blocking.
     *
     * @see RateLimiter#resetAsync(String)
     */
    public CompletionStage<Void> resetAsync() {
        return limiter.resetAsync(KEY);
    }
}
