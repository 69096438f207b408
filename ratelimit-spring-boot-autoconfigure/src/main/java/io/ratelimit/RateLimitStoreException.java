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

        /** Not asked in time, because this JVM was too slow. Nothing was charged, and the store may be well. */
        STALLED,

        /** Not asked, because it is known not to answer. The cause says what is known. */
        SHORT_CIRCUITED,

        /** There is no connection, or it was lost before the answer. What was asked may still have been charged. */
        UNREACHABLE,

        /** Too many questions wait for an answer already. */
        OVERLOADED,

        /** The server does not know us. */
        UNAUTHENTICATED,

        /** The server does not allow us a command or a key. */
        FORBIDDEN,

        /** The server takes no writes: it is a replica, or cannot keep them safe. */
        READ_ONLY,

        /** The server has no room. */
        OUT_OF_MEMORY,

        /** The server is occupied with the script of somebody else. */
        BUSY,

        /** The server is not ready yet: it reads its data. */
        LOADING,

        /** Nobody is in charge of the part of a cluster that the bucket is in. */
        CLUSTER_DOWN,

        /** What is stored for this bucket is not ours. Others are not concerned. */
        FOREIGN_VALUE,

        /** The application is shutting down. */
        CLOSED,

        /** Anything else. */
        ERROR
    }

    private final Reason reason;

    public RateLimitStoreException(Reason reason, String message, @Nullable Throwable cause) {
        // Those that come by the thousand have nothing to trace: nobody asks any more, or a timer says so.
        super(message, cause, true, hasTrace(reason));
        this.reason = reason;
    }

    private static boolean hasTrace(Reason reason) {
        return reason != Reason.SHORT_CIRCUITED && reason != Reason.TIMEOUT && reason != Reason.STALLED;
    }

    public Reason getReason() {
        return reason;
    }
}
