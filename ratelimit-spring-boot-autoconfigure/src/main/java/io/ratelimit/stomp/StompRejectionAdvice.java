package io.ratelimit.stomp;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.RejectionAnswer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
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

    /** No {@code ProblemDetail}: converters of messages do not write its properties as members. */
    @MessageExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        RateLimitExpressionException.class
    })
    @SendToUser(destinations = "/queue/errors", broadcast = false)
    Map<String, Object> handle(RateLimitException failure) {
        RejectionAnswer answer = Objects.requireNonNull(RejectionAnswer.to(failure));
        HttpStatus status = switch (answer.kind()) {
            case RATE_LIMITED -> HttpStatus.TOO_MANY_REQUESTS;
            case UNAVAILABLE -> HttpStatus.SERVICE_UNAVAILABLE;
            case INVALID -> HttpStatus.BAD_REQUEST;
            case FAILED -> HttpStatus.INTERNAL_SERVER_ERROR;
        };
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("title", status.getReasonPhrase());
        problem.put("status", status.value());
        problem.put("detail", answer.message());
        if (answer.retryAfterSeconds() != null) {
            problem.put("retry-after", answer.retryAfterSeconds());
        }
        return problem;
    }
}
