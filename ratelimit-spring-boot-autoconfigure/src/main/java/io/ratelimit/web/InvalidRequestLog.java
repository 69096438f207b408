package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Logs requests without a key or with a value that a limit cannot use, and those for which an expression fails. Any client can send
 * them, so each limit and each expression is logged at most once a minute.
 */
final class InvalidRequestLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private static final long PERIOD = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanos;

    /** The time of the last line, by limit, or by message of an expression. */
    private final ConcurrentMap<String, Long> logged = new ConcurrentHashMap<>();

    InvalidRequestLog(LongSupplier nanos) {
        this.nanos = nanos;
    }

    void log(RateLimitInputException invalid, String answer) {
        if (isDue(invalid.getLimitName())) {
            logger.log(
                    Level.WARNING,
                    invalid instanceof MissingRateLimitKeyException
                            ? "Request without a key for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit."
                            : "Request with an invalid value for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit.",
                    invalid.getLimitName(),
                    invalid.getMessage(),
                    answer);
        }
    }

    /** The message names the expression, and no value. */
    void log(RateLimitExpressionException failure, String answer) {
        String message = String.valueOf(failure.getMessage());
        if (isDue(message)) {
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

    boolean isDue(String subject) {
        long now = nanos.getAsLong();
        Long last = logged.get(subject);
        if (last == null) {
            return logged.putIfAbsent(subject, now) == null;
        }
        return now - last >= PERIOD && logged.replace(subject, last, now);
    }
}
