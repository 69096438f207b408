package io.ratelimit;

/** What happens to calls while the store cannot decide: it is down, it hangs, it refuses. */
public enum OnStoreFailure {

    /** This instance limits by itself, in memory and by the same rules, until the store is back. */
    LOCAL,

    /** Calls pass, unlimited. */
    ALLOW,

    /**
     * Calls are refused with a {@link RateLimitRefusedException}; over HTTP that is a 503, never a 429, because the
     * caller did nothing wrong.
     */
    REJECT,

    /** The {@link RateLimitStoreException} is left to the application. */
    THROW
}
