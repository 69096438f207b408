package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.internal.concurrent.OnceAMinute;
import java.lang.System.Logger.Level;

/**
 * Logs requests without a key or with a value that a limit cannot use, and those for which an expression fails. Any client can send
 * them, so each limit and each expression is logged at most once a minute.
 *
 * @param lines by limit, or by message of an expression
 */
record InvalidRequestLog(OnceAMinute lines) {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    /** The message of an expression that fails names the expression, and no value. */
    void log(RateLimitExpressionException failure, String answer) {
        String message = String.valueOf(failure.getMessage());
        if (failure instanceof RateLimitInputException invalid) {
            if (lines.isDue(invalid.getLimitName())) {
                logger.log(
                        Level.WARNING,
                        invalid instanceof MissingRateLimitKeyException
                                ? "Request without a key for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit."
                                : "Request with an invalid value for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit.",
                        invalid.getLimitName(),
                        message,
                        answer);
            }
        } else if (lines.isDue(message)) {
            Throwable cause = failure.getCause();
            logger.log(
                    Level.ERROR,
                    "Rate limit of a request not evaluated ({0}); answering {1}. Logged at most once a minute for this expression.",
                    cause == null
                            ? message
                            : message + " with " + cause.getClass().getName(),
                    answer);
        }
    }
}
