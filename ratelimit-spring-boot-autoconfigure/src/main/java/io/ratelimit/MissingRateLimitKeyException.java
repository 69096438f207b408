package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * A key expression gave null or an empty text: the caller has not said who it is. During a web request that is the client's
 * mistake, and answered with a status of its own.
 */
public class MissingRateLimitKeyException extends RateLimitExpressionException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    public MissingRateLimitKeyException(String limitName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.limitName = limitName;
    }

    /** The limit that has no key for the call. */
    public String getLimitName() {
        return limitName;
    }
}
