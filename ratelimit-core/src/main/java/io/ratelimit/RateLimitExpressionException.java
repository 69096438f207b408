package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a call if an expression of its limits fails or its result has the wrong type. No limit is charged and the method
 * is not called.
 */
public class RateLimitExpressionException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    public RateLimitExpressionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
