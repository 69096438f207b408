package io.ratelimit.web.reactive;

import io.ratelimit.web.HtmlPreference;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.RateLimitHeaders;
import io.ratelimit.web.WebSettings;
import java.util.List;
import java.util.Locale;
import org.springframework.context.MessageSource;
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
public final class RateLimitWebExceptionHandler implements WebExceptionHandler, Ordered {

    /** Precedes Spring Boot's handler (-1) and those that applications put before it (-2): they see a status. */
    private static final int ORDER = -3;

    private final ProblemResponses problems;

    private final RateLimitHeaders headers;

    private final ServerResponse.Context context;

    public RateLimitWebExceptionHandler(MessageSource messages, WebSettings settings, ServerCodecConfigurer codecs) {
        this.problems = new ProblemResponses(messages, settings);
        this.headers = settings.headers();
        this.context = new Context(codecs.getWriters());
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ErrorResponse problem = problems.of(
                failure,
                exchange.getRequest().getPath().value(),
                locale(exchange),
                ExchangeHeaderRecord.of(exchange, headers));
        if (problem == null) {
            return Mono.error(failure);
        }
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        if (prefersErrorPage(exchange)) {
            // The cause is left out: it would be answered as a problem.
            return Mono.error(new ResponseStatusException(
                    problem.getStatusCode(), problem.getBody().getDetail()));
        }
        return ServerResponse.from(problem).flatMap(response -> response.writeTo(exchange, context));
    }

    /** With a {@code Range} header, Spring would send a part of a static page, with status 206. */
    static boolean prefersErrorPage(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        return headers.getFirst(HttpHeaders.RANGE) == null && HtmlPreference.in(headers);
    }

    private static Locale locale(ServerWebExchange exchange) {
        Locale locale = exchange.getLocaleContext().getLocale();
        return locale == null ? Locale.getDefault() : locale;
    }

    private record Context(List<HttpMessageWriter<?>> messageWriters) implements ServerResponse.Context {

        @Override
        public List<ViewResolver> viewResolvers() {
            return List.of();
        }
    }
}
