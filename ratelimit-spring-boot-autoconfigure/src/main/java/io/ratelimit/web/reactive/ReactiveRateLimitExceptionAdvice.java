package io.ratelimit.web.reactive;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.HtmlPreference;
import io.ratelimit.web.ProblemResponses;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers rejections with 429, refusals with 503, invalid requests with 400 and failed expressions with 500, in a reactive application. Follows the
 * application's advice for the same exceptions, and otherwise has the highest precedence. WebFlux has no hook before all
 * advice, so {@link CatchAllAdviceWarning} warns of advice for every exception that precedes this one.
 * {@link RateLimitWebExceptionHandler} answers browsers.
 */
@RestControllerAdvice
public record ReactiveRateLimitExceptionAdvice(ProblemResponses problems, ApplicationAdvice applicationAdvice)
        implements Ordered {

    @Override
    public int getOrder() {
        return applicationAdvice.hasHandlers() ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
    }

    @ExceptionHandler({
        RateLimitExceededException.class,
        RateLimitRefusedException.class,
        RateLimitExpressionException.class
    })
    public Mono<ErrorResponse> answer(RuntimeException failure, ServerWebExchange exchange) {
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        return prefersErrorPage(exchange) ? Mono.error(failure) : Mono.justOrEmpty(problem(failure, exchange));
    }

    /** Returns {@code null} if the failure does not come from a rate limit. */
    @Nullable
    ErrorResponse problem(Throwable failure, ServerWebExchange exchange) {
        Locale locale = exchange.getLocaleContext().getLocale();
        return problems.of(
                failure,
                exchange.getRequest().getPath().value(),
                locale == null ? Locale.getDefault() : locale,
                ExchangeHeaderRecord.of(exchange, problems.settings().headers()));
    }

    /** With a {@code Range} header, Spring would send a part of a static page, with status 206. */
    boolean prefersErrorPage(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        return headers.getFirst(HttpHeaders.RANGE) == null && HtmlPreference.in(headers);
    }
}
