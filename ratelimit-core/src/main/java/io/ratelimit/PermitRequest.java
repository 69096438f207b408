package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Requests permits of one limit, as part of a call that is charged to several.
 *
 * @param limitName the limit's name; case and dashes are ignored
 * @param key identifies the bucket; neither null nor empty, unless the request is for all callers
 * @param permits the number of permits; not negative, and 0 is free
 * @param forAllCallers whether the request is for the one bucket of all callers, which has no key
 * @param estimate whether {@link RateLimiter.Entry#settle} replaces the permits by the actual cost
 */
public record PermitRequest(
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
