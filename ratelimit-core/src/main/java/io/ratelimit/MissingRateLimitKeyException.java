package io.ratelimit;

import org.jspecify.annotations.Nullable;

/** Thrown by a call if the result of its key expression is null or empty, so that the caller cannot be told from others. */
public class MissingRateLimitKeyException extends RateLimitInputException {

    private static final long serialVersionUID = 1L;

    public MissingRateLimitKeyException(String limitName, String message, @Nullable Throwable cause) {
        super(limitName, message, cause);
    }
}
