package io.ratelimit;

/** Determines what happens to calls while the store fails: it is down, does not reply, or returns errors. */
public enum OnStoreFailure {

    /** Applies the limit per instance, in memory, until the store is available. */
    LOCAL,

    /** Allows all calls. */
    ALLOW,

    /** Throws a {@link RateLimitRefusedException}; the HTTP response is a 503. */
    REJECT,

    /** Throws a {@link RateLimitStoreException}, to be handled by the application. */
    THROW
}
