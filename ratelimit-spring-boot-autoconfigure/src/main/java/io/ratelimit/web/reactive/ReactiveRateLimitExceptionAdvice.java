package io.ratelimit.web.reactive;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.CatchAllAdviceWarning;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.WebSettings;
import java.util.Locale;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers rejections with 429, refusals with 503 and requests without a key with 400, in a reactive application. Follows the
 * application's advice for the same exceptions, and otherwise has the highest precedence. WebFlux has no hook before all
 * advice, so {@link CatchAllAdviceWarning} warns of advice for every exception that precedes this one.
 * {@link RateLimitWebExceptionHandler} answers browsers.
 */
@RestControllerAdvice
public final class ReactiveRateLimitExceptionAdvice implements Ordered {

    private final ProblemResponses problems;

    private final ApplicationAdvice applicationAdvice;

    private final WebSettings settings;

    public ReactiveRateLimitExceptionAdvice(ApplicationContext context, WebSettings settings) {
        this.problems = new ProblemResponses(context, settings);
        this.applicationAdvice = new ApplicationAdvice(context);
        this.settings = settings;
    }

    @Override
    public int getOrder() {
        return applicationAdvice.hasHandlers() ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
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
        return RateLimitWebExceptionHandler.prefersErrorPage(exchange)
                ? Mono.error(failure)
                : Mono.justOrEmpty(problems.of(
                        failure,
                        exchange.getRequest().getPath().value(),
                        locale,
                        ExchangeHeaderRecord.of(exchange, settings.headers())));
    }
}
