package io.ratelimit;

/**
 * Requests permits of one limit, as part of a call that is charged to several.
 *
 * @param limitName the limit's name; case and dashes are ignored
 * @param key identifies the bucket; neither null nor empty
 * @param permits the number of permits; not negative, and 0 is free
 */
public record PermitRequest(String limitName, String key, long permits) {

    /** Requests one permit. */
    public PermitRequest(String limitName, String key) {
        this(limitName, key, 1);
    }
}
