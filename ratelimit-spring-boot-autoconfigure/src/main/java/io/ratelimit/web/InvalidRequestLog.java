package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitInputException;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.springframework.http.HttpStatusCode;

/**
 * Logs requests without a key or with a value that a limit cannot use. Any client can send them, so each limit is logged at most
 * once a minute.
 */
final class InvalidRequestLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private static final long PERIOD = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanos;

    /** The time of the last line, by limit. */
    private final ConcurrentMap<String, Long> logged = new ConcurrentHashMap<>();

    InvalidRequestLog(LongSupplier nanos) {
        this.nanos = nanos;
    }

    void log(RateLimitInputException invalid, HttpStatusCode status) {
        if (isDue(invalid.getLimitName())) {
            logger.log(
                    Level.WARNING,
                    invalid instanceof MissingRateLimitKeyException
                            ? "Request without a key for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit."
                            : "Request with an invalid value for rate limit ''{0}'' ({1}); answering {2}. Logged at most once a minute for this limit.",
                    invalid.getLimitName(),
                    invalid.getMessage(),
                    Integer.toString(status.value()));
        }
    }

    boolean isDue(String limit) {
        long now = nanos.getAsLong();
        Long last = logged.get(limit);
        if (last == null) {
            return logged.putIfAbsent(limit, now) == null;
        }
        return now - last >= PERIOD && logged.replace(limit, last, now);
    }
}
