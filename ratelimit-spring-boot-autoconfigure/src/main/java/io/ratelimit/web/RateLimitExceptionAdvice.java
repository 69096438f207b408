package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.aop.MissingRateLimitKeyException;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers a rejection with a 429, in a servlet application, and a request without a key with a 400. An advice of the application for the same exception wins; one
 * for every exception does not. A response that is on its way already just ends.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc6585#section-4">RFC 6585, 429 Too Many Requests</a>
 */
@RestControllerAdvice
public final class RateLimitExceptionAdvice implements Ordered {

    private final Problems problems;

    private final AdviceOrder order;

    public RateLimitExceptionAdvice(ListableBeanFactory beans, MessageSource messages, WebSettings settings) {
        this.problems = new Problems(messages, settings);
        this.order = new AdviceOrder(beans);
    }

    @Override
    public int getOrder() {
        return order.get();
    }

    @ExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        MissingRateLimitKeyException.class
    })
    public @Nullable ErrorResponse answer(RuntimeException failure, HttpServletResponse response, Locale locale) {
        return response.isCommitted() ? null : problems.of(failure, locale);
    }
}
