package io.ratelimit;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** All limits of the application: of annotations, of {@link RateLimit} beans and of {@code ratelimit.limits}. */
public interface RateLimiterRegistry {

    /**
     * The limiter of this name, case and dashes aside.
     *
     * @throws IllegalArgumentException if no limit bears it; the message names the nearest
     */
    RateLimiter get(String name);

    /**
     * Takes all permits of all requests or none, decided together as for a method with several annotations, and does not
     * wait. A disabled limit takes no part; one in dry run neither rejects nor delays.
     *
     * <pre>{@code
     * JointDecision decision = registry.tryAcquireAll(
     *         List.of(new PermitRequest("per-user", user), new PermitRequest("per-tenant", tenant, pages)));
     * }</pre>
     *
     * @param requests at least one, and no two of the same bucket
     * @throws IllegalArgumentException if there is none, two are of the same bucket, no limit bears one's name (the
     *     message names the nearest), a key is null or empty, or permits are negative; nothing was taken
     * @throws RateLimitStoreException where {@link OnStoreFailure#THROW} or {@link OnStoreFailure#REJECT} says so
     */
    JointDecision tryAcquireAll(List<PermitRequest> requests);

    /** As {@link #tryAcquireAll}, without blocking; what that throws, the stage completes with. */
    CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests);

    /**
     * Takes all permits of all requests, and waits until they are there: once, for the longest delay of all.
     *
     * @param requests as for {@link #tryAcquireAll}
     * @throws RateLimitExceededException if a limit rejects; it names them all, the tightest first
     * @throws RateLimitInterruptedException if the thread is interrupted while it waits, or has to wait and was
     *     interrupted before; it stays marked as interrupted, and the permits stay taken
     * @throws IllegalArgumentException as {@link #tryAcquireAll}
     * @throws RateLimitStoreException as {@link #tryAcquireAll}
     */
    void acquireAll(List<PermitRequest> requests);
}
