package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.aop.MissingRateLimitKeyException;
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

    public ReactiveRateLimitExceptionAdvice(ListableBeanFactory beans, MessageSource messages, WebSettings settings) {
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
    public @Nullable ErrorResponse answer(RuntimeException failure, ServerHttpResponse response, Locale locale) {
        return response.isCommitted() ? null : problems.of(failure, locale);
    }
}
