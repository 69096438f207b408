package io.ratelimit;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Returns limiters for all limits of the application: of annotations, {@link RateLimit} beans and properties. */
public interface RateLimiterRegistry {

    /**
     * Returns the limiter of this name; case and dashes are ignored.
     *
     * @throws IllegalArgumentException if there is no such limit; the message suggests the most similar name
     */
    RateLimiter get(String name);

    /**
     * Returns the limiter of this name if there is such a limit; case and dashes are ignored. While the application starts,
     * limits can be missing that are declared later; use {@link #get} there.
     */
    Optional<RateLimiter> find(String name);

    /**
     * Returns the names of all limits in the order of their declarations, as of now. It is empty with
     * {@code ratelimit.enabled=false}, when every name has a limiter, which allows every call.
     */
    Set<String> names();

    /**
     * Takes all permits of all requests or none, atomically as for a method with several annotations, and does not wait. A
     * disabled limit is ignored; a limit in dry run neither rejects nor delays.
     *
     * <pre>{@code
     * JointDecision decision = registry.tryAcquireAll(
     *         List.of(new PermitRequest("per-user", user), new PermitRequest("per-tenant", tenant, pages)));
     * }</pre>
     *
     * @param requests at least one, and no two of the same bucket
     * @throws IllegalArgumentException if there is no request, two requests are for the same bucket, two limits block keys in
     *     different stores, there is no limit of a name, a key is null or empty, or permits are negative; no permits are taken
     * @throws IllegalStateException if a limit has {@link Algorithm#CONCURRENCY}, or a request is an
     *     {@linkplain PermitRequest#asEstimate estimate}: call {@link #enterAll}
     * @throws RateLimitStoreException if the store fails, depending on {@link OnStoreFailure}
     */
    JointDecision tryAcquireAll(List<PermitRequest> requests);

    /** Takes permits as {@link #tryAcquireAll} without blocking; exceptions complete the stage. */
    CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests);

    /**
     * Takes all permits of all requests and waits once, for the longest delay.
     *
     * @param requests as for {@link #tryAcquireAll}
     * @throws RateLimitExceededException if a limit rejects the call; it names all limits that do, the tightest first
     * @throws RateLimitInterruptedException if the call has to wait and the thread is interrupted before or meanwhile; the
     *     interrupt flag is set, and the permits stay taken
     * @throws IllegalArgumentException as for {@link #tryAcquireAll}
     * @throws IllegalStateException as for {@link #tryAcquireAll}
     * @throws RateLimitStoreException as for {@link #tryAcquireAll}
     */
    void acquireAll(List<PermitRequest> requests);

    /**
     * Takes permits as {@link #acquireAll} without blocking a thread, not even while it waits; exceptions complete the stage.
     * Cancelling it, as a {@link CompletableFuture}, ends the wait, and the permits stay taken.
     */
    CompletionStage<Void> acquireAllAsync(List<PermitRequest> requests);

    /**
     * Begins a call, which holds the permits of all requests until you close the entry, as for a method with several annotations.
     * This is how to use several limits if one has {@link Algorithm#CONCURRENCY}, or if the cost of the call is known when it is over:
     *
     * <pre>{@code
     * try (RateLimiter.Entry entry = registry.enterAll(
     *         List.of(new PermitRequest("requests", user), new PermitRequest("rows", user, 100).asEstimate()))) {
     *     entry.settle("rows", export(user));
     * }
     * }</pre>
     *
     * @param requests as for {@link #tryAcquireAll}
     * @throws RateLimitExceededException as for {@link #acquireAll}
     * @throws RateLimitInterruptedException as for {@link RateLimiter#enter(String, long)}
     * @throws IllegalArgumentException as for {@link #tryAcquireAll}
     * @throws IllegalStateException if the limit of an estimate has a lease or {@link Algorithm#CONCURRENCY}
     * @throws RateLimitStoreException as for {@link #tryAcquireAll}
     */
    RateLimiter.Entry enterAll(List<PermitRequest> requests);

    /**
     * Begins a call as {@link #enterAll} without blocking a thread, not even while it waits; exceptions complete the stage.
     * Cancelling it, as a {@link CompletableFuture}, ends the wait.
     */
    CompletionStage<RateLimiter.Entry> enterAllAsync(List<PermitRequest> requests);

    /**
     * Holds the decision about a call that is charged to several limits: either all are charged or none.
     *
     * @param tightest the decision of the tightest limit. If the call is rejected, this is the rejection with the longest
     *     {@code retryAfter}, or with a null one, because it can never succeed. If the call is allowed, it is the decision with
     *     the fewest {@code remaining} permits (among equals, with the longest {@code resetAfter}) and the longest
     *     {@code delay} of all limits.
     * @param rejectedBy the names of the limits that rejected the call, the tightest first; empty if it is allowed
     */
    record JointDecision(RateLimitDecision tightest, List<String> rejectedBy) {

        public JointDecision {
            rejectedBy = List.copyOf(rejectedBy);
        }

        /** Returns whether the call may proceed, after the {@code delay} of {@link #tightest}. */
        public boolean allowed() {
            return rejectedBy.isEmpty();
        }
    }

    /**
     * Requests permits of one limit, as part of a call that is charged to several.
     *
     * @param limitName the limit's name; case and dashes are ignored
     * @param key identifies the bucket; neither null nor empty, unless the request is for all callers
     * @param permits the number of permits; not negative, and 0 is free
     * @param forAllCallers whether the request is for the one bucket of all callers, which has no key
     * @param estimate whether {@link RateLimiter.Entry#settle} replaces the permits by the actual cost
     */
    record PermitRequest(
            String limitName, @Nullable String key, long permits, boolean forAllCallers, boolean estimate) {

        /** Requests one permit. */
        public PermitRequest(String limitName, String key) {
            this(limitName, key, 1);
        }

        /** Requests permits from the bucket of the key. */
        public PermitRequest(String limitName, String key, long permits) {
            this(limitName, key, permits, false, false);
        }

        /** Requests one permit from the one bucket of all callers, as an annotation without a {@code keyExpression} does. */
        public static PermitRequest forAllCallers(String limitName) {
            return forAllCallers(limitName, 1);
        }

        /** Requests permits from the one bucket of all callers. */
        public static PermitRequest forAllCallers(String limitName, long permits) {
            return new PermitRequest(limitName, null, permits, true, false);
        }

        /**
         * Returns this request for {@link RateLimiterRegistry#enterAll}, with its permits as an estimate that
         * {@link RateLimiter.Entry#settle} replaces by the actual cost. An estimate of 0 becomes 1, because a free call is never rejected.
         */
        public PermitRequest asEstimate() {
            return new PermitRequest(limitName, key, permits == 0 ? 1 : permits, forAllCallers, true);
        }
    }
}
