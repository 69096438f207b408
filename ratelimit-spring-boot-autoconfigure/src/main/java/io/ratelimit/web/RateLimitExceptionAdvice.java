package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers a rejection with a 429. An advice of the application for the same exception wins; one for every exception does
 * not.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc6585#section-4">RFC 6585, 429 Too Many Requests</a>
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457, Problem Details for HTTP APIs</a>
 */
@RestControllerAdvice
public final class RateLimitExceptionAdvice implements Ordered {

    private static final URI QUOTA_EXCEEDED =
            URI.create("https://iana.org/assignments/http-problem-types#quota-exceeded");

    private static final Set<Class<? extends Throwable>> OURS =
            Set.of(RateLimitExceededException.class, RateLimitRefusedException.class);

    private final UserAdvice users;

    public RateLimitExceptionAdvice(ListableBeanFactory beans) {
        this.users = new UserAdvice(beans);
    }

    @Override
    public int getOrder() {
        return users.names(OURS) ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
    }

    @ExceptionHandler
    public ResponseEntity<ProblemDetail> exceeded(RateLimitExceededException rejection) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS, rejection.getMessage());
        problem.setType(QUOTA_EXCEEDED);
        problem.setProperty("violated-policies", rejection.getLimitNames());
        ResponseEntity.BodyBuilder response = ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS);
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter != null) {
            response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds(retryAfter)));
        }
        return response.body(problem);
    }

    @ExceptionHandler
    public ResponseEntity<ProblemDetail> refused(RateLimitRefusedException refusal) {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, refusal.getMessage()));
    }

    /** Rounded up, so that who waits so long is not early; at least 1. */
    private static long seconds(Duration retryAfter) {
        return Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds());
    }
}
