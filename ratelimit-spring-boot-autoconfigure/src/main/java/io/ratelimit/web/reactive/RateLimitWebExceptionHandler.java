package io.ratelimit.web.reactive;

import java.util.List;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Answers rejections that advice does not see: of filters, and of what functional endpoints stream. Leaves the body of a
 * browser's response to the application's error handling, as for its other errors.
 */
public record RateLimitWebExceptionHandler(ReactiveRateLimitExceptionAdvice advice, ServerResponse.Context context)
        implements WebExceptionHandler, Ordered {

    /** Precedes Spring Boot's handler (-1) and those that applications put before it (-2): they see a status. */
    private static final int ORDER = -3;

    public RateLimitWebExceptionHandler(ReactiveRateLimitExceptionAdvice advice, ServerCodecConfigurer codecs) {
        this(advice, new Context(codecs.getWriters()));
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ErrorResponse problem = advice.problem(failure, exchange);
        if (problem == null) {
            return Mono.error(failure);
        }
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        if (advice.prefersErrorPage(exchange)) {
            String retryAfter = problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
            if (retryAfter != null) {
                exchange.getResponse().getHeaders().set(HttpHeaders.RETRY_AFTER, retryAfter);
            }
            // The cause is left out: it would be answered as a problem.
            return Mono.error(new ResponseStatusException(
                    problem.getStatusCode(), problem.getBody().getDetail()));
        }
        return ServerResponse.from(problem).flatMap(response -> response.writeTo(exchange, context));
    }

    private record Context(List<HttpMessageWriter<?>> messageWriters) implements ServerResponse.Context {

        @Override
        public List<ViewResolver> viewResolvers() {
            return List.of();
        }
    }
}
