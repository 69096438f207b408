package io.ratelimit.web;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.internal.concurrent.OnceAMinute;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Answers a failure that a rate limit has thrown, for protocols other than HTTP. Knows no class of Spring.
 *
 * @param retryAfter {@code null} if the call can never succeed, or the time is not known
 */
public record RejectionAnswer(
        Kind kind, String message, @Nullable Duration retryAfter) {

    private static final InvalidRequestLog log = new InvalidRequestLog(new OnceAMinute(System::nanoTime));

    /** Returns the answer, or {@code null} if the application or Spring answers the failure. */
    public static @Nullable RejectionAnswer to(Throwable failure) {
        if (failure instanceof RateLimitExceededException rejection) {
            Duration retryAfter = rejection.getDecision().retryAfter();
            return failure instanceof OutboundRateLimitExceededException
                    ? new RejectionAnswer(
                            Kind.UNAVAILABLE, "Another application must not be called at present", retryAfter)
                    : new RejectionAnswer(Kind.RATE_LIMITED, String.valueOf(failure.getMessage()), retryAfter);
        }
        if (failure instanceof RateLimitRefusedException) {
            return new RejectionAnswer(Kind.UNAVAILABLE, String.valueOf(failure.getMessage()), null);
        }
        if (!(failure instanceof RateLimitExpressionException failed)) {
            return null;
        }
        log.log(failed, "an error");
        return failed instanceof RateLimitInputException invalid
                ? new RejectionAnswer(
                        Kind.INVALID,
                        "Rate limit '" + invalid.getLimitName() + "' lacks its key, or cannot use a value",
                        null)
                : new RejectionAnswer(Kind.FAILED, "The server cannot evaluate a rate limit of the request", null);
    }

    /** Returns the time to wait in seconds, as in HTTP. */
    public @Nullable Long retryAfterSeconds() {
        return retryAfter == null ? null : Long.valueOf(RateLimitHeaders.retryAfter(retryAfter));
    }

    /** Says in general what has gone wrong. */
    public enum Kind {
        RATE_LIMITED,
        UNAVAILABLE,
        INVALID,
        FAILED
    }
}
