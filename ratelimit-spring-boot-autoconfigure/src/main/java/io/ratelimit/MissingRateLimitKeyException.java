package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a call if the result of its key expression is null or empty. No limit is charged and the method is not called.
 * During a web request this is an error of the client, so the response is a 400 by default.
 */
public class MissingRateLimitKeyException extends RateLimitExpressionException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    public MissingRateLimitKeyException(String limitName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.limitName = limitName;
    }

    /** Returns the name of the limit that requires the key. */
    public String getLimitName() {
        return limitName;
    }
}
