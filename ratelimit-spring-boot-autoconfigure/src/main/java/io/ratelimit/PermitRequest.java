package io.ratelimit;

/**
 * Permits wanted of one limit, where several are asked at once.
 *
 * @param limitName the limit's name, case and dashes aside
 * @param key whose bucket; neither null nor empty
 * @param permits how many; not negative, and 0 is free
 */
public record PermitRequest(String limitName, String key, long permits) {

    /** One permit. */
    public PermitRequest(String limitName, String key) {
        this(limitName, key, 1);
    }
}
