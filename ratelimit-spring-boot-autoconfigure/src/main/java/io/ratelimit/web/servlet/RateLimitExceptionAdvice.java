package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.ProblemResponses;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.MethodParameter;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers rejections with 429, refusals with 503, invalid requests with 400 and failed expressions with 500, in a servlet application.
 * {@link RateLimitExceptionResolver} calls it before all advice. If an application has replaced Spring's composite resolver,
 * it is the last advice. A response that is already committed just ends.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc6585#section-4">RFC 6585, 429 Too Many Requests</a>
 */
@RestControllerAdvice
public record RateLimitExceptionAdvice(ProblemResponses problems) {

    @ExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        RateLimitExpressionException.class
    })
    public @Nullable ErrorResponse answer(
            RuntimeException failure, HttpServletRequest request, HttpServletResponse response, Locale locale) {
        Object path = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
        return response.isCommitted()
                ? null
                : problems.of(
                        failure,
                        path == null ? request.getRequestURI() : path.toString(),
                        locale,
                        ServletHeaderRecord.of(request));
    }

    /** Returns the declared type of {@link #answer}, by which Spring selects how to write it. */
    MethodParameter answerType() {
        return new MethodParameter(
                Objects.requireNonNull(BeanUtils.findMethodWithMinimalParameters(getClass(), "answer")), -1);
    }
}
