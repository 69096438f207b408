package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a call if the store fails and {@code on-store-failure} is {@link OnStoreFailure#THROW}; for
 * {@link OnStoreFailure#REJECT} it is the subclass {@link RateLimitRefusedException}.
 */
public class RateLimitStoreException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    /** Classifies failures of the store. */
    public enum Reason {

        /** The store did not reply in time. The call may still have been charged. */
        TIMEOUT,

        /** This JVM was too slow to send the request in time. Nothing was charged, and the store may be healthy. */
        STALLED,

        /** The circuit breaker is open, so no request was sent. The cause is the failure that opened it. */
        SHORT_CIRCUITED,

        /** There is no connection, or it was lost before the reply. The call may still have been charged. */
        UNREACHABLE,

        /** Too many requests are waiting for a reply. */
        OVERLOADED,

        /** The server requires other credentials. */
        UNAUTHENTICATED,

        /** The server denies a command or a key (ACL). */
        FORBIDDEN,

        /** The server accepts no writes: it is a replica, or cannot persist or replicate them. */
        READ_ONLY,

        /** The server has reached its memory limit. */
        OUT_OF_MEMORY,

        /** The server is running another script. */
        BUSY,

        /** The server is still loading its data. */
        LOADING,

        /** No node serves the hash slot of the bucket. */
        CLUSTER_DOWN,

        /** The key of the bucket holds a value that the starter did not write. Other buckets are not affected. */
        FOREIGN_VALUE,

        /**
         * A {@link RateLimitAlgorithm} of the application has failed, or has returned what it must not. Limits with other algorithms
         * are not affected.
         */
        ALGORITHM,

        /** The application is shutting down. */
        CLOSED,

        /** Any other failure. */
        ERROR
    }

    private final Reason reason;

    public RateLimitStoreException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause, true, hasStackTrace(reason));
        this.reason = reason;
    }

    /** During an outage, these come by the thousand, and a stack trace would show only a timer or the circuit breaker. */
    private static boolean hasStackTrace(Reason reason) {
        return reason != Reason.SHORT_CIRCUITED && reason != Reason.TIMEOUT && reason != Reason.STALLED;
    }

    public Reason getReason() {
        return reason;
    }
}
