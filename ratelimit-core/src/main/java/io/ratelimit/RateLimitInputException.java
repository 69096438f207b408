package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a call if the caller has passed a value that its limit cannot be applied to: a number of permits that is negative, too
 * large or no whole number, or a value that an expression cannot read. No limit is charged and the method is not called.
 * During a web request this is an error of the client, so the response is a 400 by default.
 */
public class RateLimitInputException extends RateLimitExpressionException {

    private static final long serialVersionUID = 1L;

    private final String limitName;

    public RateLimitInputException(String limitName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.limitName = limitName;
    }

    /** Returns the name of the limit that reads the value. */
    public String getLimitName() {
        return limitName;
    }
}
