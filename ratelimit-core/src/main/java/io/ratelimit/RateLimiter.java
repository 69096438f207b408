package io.ratelimit;

import io.ratelimit.RateLimiterRegistry.PermitRequest;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies one limit programmatically.
 *
 * <p>A call uses the bucket of its key, which is neither null nor empty. {@link #allCallers()} uses one bucket for all callers.
 *
 * <p>Methods whose names end with {@code Async} never block and may be called on every thread. All their exceptions complete
 * the stage, including those that the blocking method throws. The other methods take no permits and throw an
 * {@link IllegalStateException} on a thread that must not block, such as an event loop, if the store is remote, or if
 * {@code acquire} may have to wait for permits.
 *
 * <p>The permits of a limit with {@link Algorithm#CONCURRENCY} come back when a call ends, so its calls {@link #enter(String)}:
 * {@code tryAcquire} and {@code acquire} throw an {@link IllegalStateException}.
 *
 * <p>If the store fails, every method can throw a {@link RateLimitStoreException}, depending on {@link OnStoreFailure}. A
 * disabled limit allows every call.
 */
public interface RateLimiter {

    /**
     * Returns a limiter of the same limit and the same buckets, for callers with a plan. It has the numbers of
     * {@code ratelimit.limits.<name>.plans.<plan>}, which can change, or the limit's own if there is no such plan.
     *
     * <pre>{@code limiter.withPlan(account.plan()).tryAcquire(account.id())}</pre>
     *
     * @param plan case and dashes are ignored; null or empty: the limit's own numbers
     */
    RateLimiter withPlan(@Nullable String plan);

    /** Returns the methods for the one bucket of all callers, as an annotation without a {@code keyExpression} uses it. */
    AllCallers allCallers();

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

    /** Takes one permit if it is available, without blocking: {@link #tryAcquireAsync(String, long)} for 1. */
    default CompletionStage<RateLimitDecision> tryAcquireAsync(String key) {
        return tryAcquireAsync(key, 1);
    }

    /** Takes all permits or none, without blocking: see {@link #tryAcquire(String, long)}. */
    CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits);

    /** Takes one permit and waits for it, if necessary: {@link #acquire(String, long)} for 1. */
    default void acquire(String key) {
        acquire(key, 1);
    }

    /**
     * Takes all permits or none, and waits for exactly the delay of the decision. A token bucket reserves permits at most
     * {@code maxWait} ahead, by default not at all; with a {@link Algorithm#LEAKY_BUCKET}, every call waits for its slot. A
     * limit in dry run never waits.
     *
     * @throws RateLimitExceededException at once, if the permits are not available within {@code maxWait}
     * @throws RateLimitInterruptedException if the call has to wait and the thread is interrupted before or meanwhile; the
     *     interrupt flag is set, and the permits stay taken
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    void acquire(String key, long permits);

    /** Takes one permit without blocking a thread: {@link #acquireAsync(String, long)} for 1. */
    default CompletionStage<Void> acquireAsync(String key) {
        return acquireAsync(key, 1);
    }

    /**
     * Takes all permits or none, as {@link #acquire(String, long)}, without blocking a thread, not even while it waits. The stage completes
     * when you may proceed. Cancelling it, as a {@link CompletableFuture}, ends the wait, and the permits stay taken.
     */
    CompletionStage<Void> acquireAsync(String key, long permits);

    /** Begins a call that holds one permit: {@link #enter(String, long)} for 1. */
    default Entry enter(String key) {
        return enter(key, 1);
    }

    /**
     * Begins a call, which holds its permits until you close the entry. This is how to use a limit with
     * {@link Algorithm#CONCURRENCY}. The permits of other limits come back over time, and closing the entry changes nothing.
     *
     * <pre>{@code
     * try (RateLimiter.Entry entry = limiter.enter(tenant)) {
     *     export(tenant);
     * }
     * }</pre>
     *
     * @throws RateLimitExceededException if the permits are not available within {@code maxWait}
     * @throws RateLimitInterruptedException if the call has to wait and the thread is interrupted before or meanwhile; the
     *     interrupt flag is set
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    Entry enter(String key, long permits);

    /** Begins a call without blocking a thread: {@link #enterAsync(String, long)} for 1. */
    default CompletionStage<Entry> enterAsync(String key) {
        return enterAsync(key, 1);
    }

    /**
     * Begins a call, as {@link #enter(String, long)}, without blocking a thread, not even while it waits. Cancelling the stage, as
     * a {@link CompletableFuture}, ends the wait.
     */
    CompletionStage<Entry> enterAsync(String key, long permits);

    /**
     * {@linkplain #enter(String) Enters}, does the work, and closes the entry when the work has returned or failed.
     *
     * @throws Exception that of the work
     */
    default <T extends @Nullable Object> T call(String key, Callable<T> work) throws Exception {
        Entry entry = enter(key);
        try {
            return work.call();
        } finally {
            entry.close();
        }
    }

    /**
     * {@linkplain #enterAsync(String) Enters}, starts the work, and closes the entry when its stage is complete. Exceptions
     * complete the returned stage. Cancelling it, as a {@link CompletableFuture}, ends the wait, and work that has not been started
     * is not started any more. Work that has been started goes on, and the entry is closed when it ends.
     */
    default <T extends @Nullable Object> CompletionStage<T> callAsync(
            String key, Supplier<? extends CompletionStage<T>> work) {
        CompletionStage<Entry> entered = enterAsync(key);
        CompletableFuture<T> result = new CompletableFuture<>();
        var unused = entered.thenCompose(entry -> run(entry, work, result)).whenComplete((value, thrown) -> {
            if (thrown == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(thrown);
            }
        });
        // Ends the wait of a call that its caller has given up.
        var unusedToo = result.whenComplete(
                (value, thrown) -> entered.toCompletableFuture().cancel(false));
        return result;
    }

    /** Starts the work, unless its caller has given up meanwhile, and closes the entry when the work has ended. */
    private static <T extends @Nullable Object> CompletionStage<T> run(
            Entry entry, Supplier<? extends CompletionStage<T>> work, CompletableFuture<T> result) {
        if (result.isDone()) {
            entry.close();
            return result;
        }
        try {
            return work.get().whenComplete((value, thrown) -> entry.close());
        } catch (Throwable ex) {
            entry.close();
            throw ex;
        }
    }

    /**
     * Charges what a call has cost, even if the bucket does not hold so many permits. A bucket in debt rejects calls until enough
     * permits are back; the time until then is their {@link RateLimitDecision#retryAfter() retryAfter}. Rejects nothing, blocks no
     * key and counts as no call. Waits until the store has charged it.
     *
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative or more than
     *     {@value RateLimit#MAX_CAPACITY}
     * @throws IllegalStateException if the limit has a lease or the algorithm {@link Algorithm#CONCURRENCY}
     */
    void charge(String key, long permits);

    /** Charges what a call has cost, without blocking: see {@link #charge(String, long)}. */
    CompletionStage<Void> chargeAsync(String key, long permits);

    /**
     * Returns the decision that {@link #tryAcquire(String)} would return now, but with the current remaining and resetAfter.
     * Consumes no permits and does not wait. Permits that instances have leased count as used.
     *
     * @throws IllegalArgumentException if the key is null or empty
     */
    RateLimitDecision peek(String key);

    /** Returns the present decision without blocking: see {@link #peek(String)}. */
    CompletionStage<RateLimitDecision> peekAsync(String key);

    /**
     * Fills the bucket of the key, and ends a block: deletes its state in the store. Calls that hold permits run on, and release
     * nothing when they end.
     *
     * @throws IllegalArgumentException if the key is null or empty
     * @throws RateLimitStoreException if the store fails, independent of {@link OnStoreFailure}
     */
    void reset(String key);

    /** Fills the bucket without blocking: see {@link #reset(String)}. */
    CompletionStage<Void> resetAsync(String key);

    /** A call that holds its permits until it is closed. */
    interface Entry extends AutoCloseable {

        /** Releases the permits in the background. Does nothing if it was called before. */
        @Override
        void close();

        /**
         * Replaces the {@linkplain PermitRequest#asEstimate estimates} of one limit by the actual cost, in the background: refunds the
         * excess, or charges the rest, even beyond the capacity. Only the first cost counts, before or after the entry is closed.
         * Without a cost, the estimate stays. With {@code ratelimit.enabled=false}, it does nothing.
         *
         * @throws IllegalArgumentException if the call has no estimate for such a limit, or the permits are negative or more than
         *     {@value RateLimit#MAX_CAPACITY}
         */
        default void settle(String limitName, long permits) {}
    }
}
