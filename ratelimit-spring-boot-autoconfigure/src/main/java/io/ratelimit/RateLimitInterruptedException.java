package io.ratelimit;

/**
 * The thread was interrupted while it waited for permits that were reserved for it. The call that was to follow has not
 * been made, the permits stay taken, and the thread is still marked as interrupted. The message never holds the key.
 */
public class RateLimitInterruptedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    public RateLimitInterruptedException(String limitName, InterruptedException interruption) {
        super("Interrupted while waiting for rate limit '" + limitName + "'", interruption);
        this.limitName = limitName;
    }

    /** The limit that was waited for: of several, the one with the longest delay. */
    public String getLimitName() {
        return limitName;
    }
}
