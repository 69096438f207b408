package io.ratelimit;

/** Thrown by a change of a limit if its override has another version than expected, because it has changed meanwhile. */
public class RateLimitConflictException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    private final long version;

    public RateLimitConflictException(String limitName, long expectedVersion, long version) {
        super(
                "Limit '" + limitName + "': the override must have the version " + expectedVersion + " (was "
                        + (version == 0 ? "0, there is none" : version) + "). Read the limit and decide again.",
                null);
        this.limitName = limitName;
        this.version = version;
    }

    public String getLimitName() {
        return limitName;
    }

    /** Returns the version of the present override; 0 if there is none. */
    public long getVersion() {
        return version;
    }
}
