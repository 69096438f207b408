package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * The store could not decide. Reaches the application only where {@link OnStoreFailure#THROW} or
 * {@link OnStoreFailure#REJECT} asks for it.
 */
public class RateLimitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What kind of trouble it is. */
    public enum Reason {

        /** No answer in time. What was asked may still have been charged. */
        TIMEOUT,

        /** Anything else: no connection, an error reply, a foreign value at the key. */
        ERROR
    }

    private final Reason reason;

    public RateLimitStoreException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason getReason() {
        return reason;
    }
}
