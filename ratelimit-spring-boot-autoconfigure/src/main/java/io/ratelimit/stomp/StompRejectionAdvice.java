package io.ratelimit.stomp;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import java.time.Duration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
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

    @MessageExceptionHandler
    @SendToUser(destinations = "/queue/errors", broadcast = false)
    ProblemDetail handle(RateLimitExceededException rejection) {
        boolean outbound = rejection instanceof OutboundRateLimitExceededException;
        ProblemDetail problem = outbound
                ? ProblemDetail.forStatusAndDetail(
                        HttpStatus.SERVICE_UNAVAILABLE, "Another application must not be called at present")
                : ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS, rejection.getMessage());
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter != null) {
            problem.setProperty(
                    "retry-after", Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds()));
        }
        return problem;
    }

    @MessageExceptionHandler
    @SendToUser(destinations = "/queue/errors", broadcast = false)
    ProblemDetail handle(RateLimitRefusedException refusal) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, refusal.getMessage());
    }

    @MessageExceptionHandler
    @SendToUser(destinations = "/queue/errors", broadcast = false)
    ProblemDetail handle(RateLimitInputException invalid) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.BAD_REQUEST,
                "Rate limit '" + invalid.getLimitName() + "' lacks its key, or cannot use a value");
    }
}
