package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers a rejection with a 429, in a reactive application; otherwise as {@link RateLimitExceptionAdvice}. */
@RestControllerAdvice
public final class ReactiveRateLimitExceptionAdvice implements Ordered {

    private final Problems problems;

    private final AdviceOrder order;

    public ReactiveRateLimitExceptionAdvice(ListableBeanFactory beans, MessageSource messages) {
        this.problems = new Problems(messages);
        this.order = new AdviceOrder(beans);
    }

    @Override
    public int getOrder() {
        return order.get();
    }

    @ExceptionHandler
    public @Nullable ErrorResponse exceeded(
            RateLimitExceededException rejection, ServerHttpResponse response, Locale locale) {
        return response.isCommitted() ? null : problems.exceeded(rejection, locale);
    }

    @ExceptionHandler
    public @Nullable ErrorResponse refused(
            RateLimitRefusedException refusal, ServerHttpResponse response, Locale locale) {
        return response.isCommitted() ? null : problems.refused(refusal, locale);
    }
}
