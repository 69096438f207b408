package io.ratelimit;

/**
 * Thrown by a call whose thread is interrupted while it waits for reserved permits. The method is not called, the permits
 * stay taken, and the thread's interrupt flag is set.
 */
public class RateLimitInterruptedException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    public RateLimitInterruptedException(String limitName, InterruptedException interruption) {
        super("Interrupted while waiting for rate limit '" + limitName + "'", interruption);
        this.limitName = limitName;
    }

    /** Returns the name of the limit that delayed the call: of several, the one with the longest delay. */
    public String getLimitName() {
        return limitName;
    }
}
