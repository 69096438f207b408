package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Requests permits of one limit, as part of a call that is charged to several.
 *
 * @param limitName the limit's name; case and dashes are ignored
 * @param key identifies the bucket; neither null nor empty, unless the request is for all callers
 * @param permits the number of permits; not negative, and 0 is free
 * @param forAllCallers whether the request is for the one bucket of all callers, which has no key
 */
public record PermitRequest(String limitName, @Nullable String key, long permits, boolean forAllCallers) {

    /** Requests one permit. */
    public PermitRequest(String limitName, String key) {
        this(limitName, key, 1);
    }

    /** Requests permits from the bucket of the key. */
    public PermitRequest(String limitName, String key, long permits) {
        this(limitName, key, permits, false);
    }

    /** Requests one permit from the one bucket of all callers, as an annotation without a {@code keyExpression} does. */
    public static PermitRequest forAllCallers(String limitName) {
        return forAllCallers(limitName, 1);
    }

    /** Requests permits from the one bucket of all callers. */
    public static PermitRequest forAllCallers(String limitName, long permits) {
        return new PermitRequest(limitName, null, permits, true);
    }
}
