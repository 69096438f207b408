package io.ratelimit.stomp;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.web.bind.annotation.ControllerAdvice;

/**
 * Tells the session whose message was rejected, at {@code /user/queue/errors}. Spring would only log an error with a stack trace.
 * Handlers of the application come first.
 */
@ControllerAdvice
@Order
public final class StompRejectionAdvice {

    private static final String ERRORS = "/queue/errors";

    @MessageExceptionHandler
    @SendToUser(destinations = ERRORS, broadcast = false)
    Map<String, Object> handle(RateLimitExceededException rejection) {
        Map<String, Object> problem = rejection instanceof OutboundRateLimitExceededException
                ? problem(HttpStatus.SERVICE_UNAVAILABLE, "Another application must not be called at present")
                : problem(HttpStatus.TOO_MANY_REQUESTS, rejection.getMessage());
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter != null) {
            problem.put(
                    "retry-after", Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds()));
        }
        return problem;
    }

    @MessageExceptionHandler
    @SendToUser(destinations = ERRORS, broadcast = false)
    Map<String, Object> handle(RateLimitRefusedException refusal) {
        return problem(HttpStatus.SERVICE_UNAVAILABLE, refusal.getMessage());
    }

    @MessageExceptionHandler
    @SendToUser(destinations = ERRORS, broadcast = false)
    Map<String, Object> handle(RateLimitInputException invalid) {
        return problem(
                HttpStatus.BAD_REQUEST,
                "Rate limit '" + invalid.getLimitName() + "' lacks its key, or cannot use a value");
    }

    /** No {@code ProblemDetail}: converters of messages do not write its properties as members. */
    private static Map<String, Object> problem(HttpStatus status, @Nullable String detail) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("title", status.getReasonPhrase());
        problem.put("status", status.value());
        problem.put("detail", String.valueOf(detail));
        return problem;
    }
}
