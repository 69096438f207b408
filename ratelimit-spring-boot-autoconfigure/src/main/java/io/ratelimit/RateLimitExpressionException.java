package io.ratelimit;

import org.jspecify.annotations.Nullable;

/** An expression gave nothing usable for a call: no key, no number of permits, no yes or no. The call is not made. */
public class RateLimitExpressionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public RateLimitExpressionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
