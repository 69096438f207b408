package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.aop.MissingRateLimitKeyException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ServerWebExchange;

/**
 * Answers a rejection with a 429, in a reactive application; otherwise as {@link RateLimitExceptionAdvice}. After advice of
 * the application for the same exceptions, before advice for every exception. Nothing comes before all advice here, so
 * {@link SwallowedRejections} warns of what does.
 */
@RestControllerAdvice
public final class ReactiveRateLimitExceptionAdvice implements Ordered {

    private final Problems problems;

    private final UserAdvice users;

    private final ResponseFields fields;

    public ReactiveRateLimitExceptionAdvice(ApplicationContext context, WebSettings settings) {
        this.problems = new Problems(context, settings);
        this.users = new UserAdvice(context);
        this.fields = settings.fields();
    }

    @Override
    public int getOrder() {
        return users.namesOurs() ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
    }

    @ExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        MissingRateLimitKeyException.class
    })
    public @Nullable ErrorResponse answer(RuntimeException failure, ServerWebExchange exchange, Locale locale) {
        return exchange.getResponse().isCommitted()
                ? null
                : problems.of(
                        failure,
                        exchange.getRequest().getPath().value(),
                        locale,
                        ExchangeRecord.of(exchange, fields)::addIfUnknown);
    }
}
