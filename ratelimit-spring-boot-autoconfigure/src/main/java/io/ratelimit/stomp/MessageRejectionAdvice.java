package io.ratelimit.stomp;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.RejectionAnswer;
import io.rsocket.exceptions.ApplicationErrorException;
import io.rsocket.exceptions.InvalidException;
import io.rsocket.exceptions.RejectedException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.http.HttpStatus;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.MessagingAdviceBean;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.rsocket.annotation.support.RSocketRequesterMethodArgumentResolver;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.web.bind.annotation.ControllerAdvice;
import reactor.core.publisher.Mono;

/**
 * Tells the session whose STOMP message was rejected, at {@code /user/queue/errors}, and answers a request of RSocket with an error,
 * {@code REJECTED} if it may be sent again. Spring would log a stack trace. One advice for both, because Spring asks each advice
 * for both. Handlers of the application come first.
 */
@ControllerAdvice
public final class MessageRejectionAdvice implements MessagingAdviceBean {

    @Override
    public Class<?> getBeanType() {
        return getClass();
    }

    @Override
    public Object resolveBean() {
        return this;
    }

    @Override
    public boolean isApplicableToBeanType(Class<?> controller) {
        return true;
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @MessageExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        RateLimitExpressionException.class
    })
    @SendToUser(destinations = "/queue/errors", broadcast = false)
    Object handle(RateLimitException failure, MessageHeaders headers) {
        RejectionAnswer answer = Objects.requireNonNull(RejectionAnswer.to(failure));
        return headers.containsKey(RSocketRequesterMethodArgumentResolver.RSOCKET_REQUESTER_HEADER)
                ? RSocketErrors.error(answer)
                : problem(answer);
    }

    /** No {@code ProblemDetail}: converters of messages do not write its properties as members. */
    private static Map<String, Object> problem(RejectionAnswer answer) {
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

    /** Apart, because the types may be absent. */
    private static final class RSocketErrors {

        static Mono<Void> error(RejectionAnswer answer) {
            Long seconds = answer.retryAfterSeconds();
            String message = answer.message() + (seconds == null ? "" : "; retry after " + seconds + " s");
            return Mono.error(
                    switch (answer.kind()) {
                        case RATE_LIMITED, UNAVAILABLE -> new RejectedException(message);
                        case INVALID -> new InvalidException(message);
                        case FAILED -> new ApplicationErrorException(message);
                    });
        }
    }
}
