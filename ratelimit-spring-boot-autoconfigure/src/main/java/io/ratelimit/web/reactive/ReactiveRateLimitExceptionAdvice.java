package io.ratelimit.web.reactive;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.ProblemBodies;
import io.ratelimit.web.SwallowedRejections;
import io.ratelimit.web.UserAdvice;
import io.ratelimit.web.WebSettings;
import java.util.Locale;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers a rejection with a 429, in a reactive application; otherwise as the advice for servlets. After advice of
 * the application for the same exceptions, before advice for every exception. Nothing comes before all advice here, so
 * {@link SwallowedRejections} warns of what does. What an error view is for, {@link RateLimitWebExceptionHandler} answers.
 */
@RestControllerAdvice
public final class ReactiveRateLimitExceptionAdvice implements Ordered {

    private final ProblemBodies problems;

    private final UserAdvice users;

    private final WebSettings settings;

    private final ExchangeErrorViews errorViews;

    public ReactiveRateLimitExceptionAdvice(
            ApplicationContext context, WebSettings settings, ExchangeErrorViews errorViews) {
        this.problems = new ProblemBodies(context, settings);
        this.users = new UserAdvice(context);
        this.settings = settings;
        this.errorViews = errorViews;
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
    public Mono<ErrorResponse> answer(RuntimeException failure, ServerWebExchange exchange, Locale locale) {
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        HttpStatusCode status = settings.status(failure);
        return status != null && errorViews.areFor(exchange, status)
                ? Mono.error(failure)
                : Mono.justOrEmpty(problems.of(
                        failure,
                        exchange.getRequest().getPath().value(),
                        locale,
                        ExchangeHeaderRecord.of(exchange, settings.fields())::addIfUnknown));
    }
}
