package io.ratelimit;

import java.util.concurrent.CompletionStage;

/**
 * Changes limits while the application runs. A bean of this type exists unless {@code ratelimit.enabled} is {@code false}.
 *
 * <p>An override is kept in Redis and applies to all instances within a second, to those started later, and after restarts.
 * With {@code ratelimit.store=in-memory}, it applies to this instance. The permits that callers have used are kept.
 *
 * <p>Methods whose names end with {@code Async} never block, and all exceptions complete their stage. The others block for the
 * store, and throw an {@link IllegalStateException} on a thread that must not block, such as an event loop.
 *
 * <p>Every method that names a limit throws an {@link IllegalArgumentException} if there is no such limit.
 */
public interface RateLimitAdmin {

    /** An expected version that every version matches. */
    long ANY_VERSION = -1;

    /** Returns the same, but records this principal as the author of changes: in the log, in events and in the override. */
    RateLimitAdmin as(String principal);

    /** Returns the limit as this instance applies it. Does not ask the store. */
    RateLimitStatus status(String limit);

    /** Sets the override of a limit, whatever the present one is: {@link #override(String, RateLimitOverride, long)}. */
    default RateLimitStatus override(String limit, RateLimitOverride override) {
        return override(limit, override, ANY_VERSION);
    }

    /**
     * Sets the override of a limit, and replaces the present one as a whole. Invalid attributes change nothing.
     *
     * @param expectedVersion the {@link RateLimitStatus#version() version} of the present override, or {@link #ANY_VERSION}
     * @return the limit with the override
     * @throws RateLimitConfigurationException if the limit is invalid with these attributes, with the message that the same
     *     configuration has at start-up, if no attribute is set, or if the duration is not positive
     * @throws RateLimitConflictException if the present override has another version
     * @throws RateLimitStoreException if the store fails; unless its reason is a timeout, nothing has changed
     */
    RateLimitStatus override(String limit, RateLimitOverride override, long expectedVersion);

    /** Does the same as {@link #override(String, RateLimitOverride, long)} without blocking. */
    CompletionStage<RateLimitStatus> overrideAsync(String limit, RateLimitOverride override, long expectedVersion);

    /** Removes the override of a limit, whatever it is: {@link #removeOverride(String, long)}. */
    default RateLimitStatus removeOverride(String limit) {
        return removeOverride(limit, ANY_VERSION);
    }

    /**
     * Removes the override of a limit. Without one, it changes nothing.
     *
     * @param expectedVersion as for {@link #override(String, RateLimitOverride, long)}
     * @return the limit without an override
     * @throws RateLimitConflictException if the present override has another version
     * @throws RateLimitStoreException if the store fails; unless its reason is a timeout, nothing has changed
     */
    RateLimitStatus removeOverride(String limit, long expectedVersion);

    /** Does the same as {@link #removeOverride(String, long)} without blocking. */
    CompletionStage<RateLimitStatus> removeOverrideAsync(String limit, long expectedVersion);
}
