package io.ratelimit.web.reactive;

import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.RateLimitHeaders;
import io.ratelimit.web.WebSettings;
import java.util.List;
import java.util.Locale;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** Answers rejections that advice does not see: of filters, and of what functional endpoints stream. Precedes Spring Boot's. */
public final class RateLimitWebExceptionHandler implements WebExceptionHandler, Ordered {

    private static final int BEFORE_SPRING_BOOT = -2;

    private final ProblemResponses problems;

    private final RateLimitHeaders headers;

    private final ExchangeErrorViews errorViews;

    private final ServerResponse.Context context;

    public RateLimitWebExceptionHandler(
            MessageSource messages, WebSettings settings, ExchangeErrorViews errorViews, ServerCodecConfigurer codecs) {
        this.problems = new ProblemResponses(messages, settings);
        this.errorViews = errorViews;
        this.headers = settings.headers();
        this.context = new Context(codecs.getWriters());
    }

    @Override
    public int getOrder() {
        return BEFORE_SPRING_BOOT;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ErrorResponse problem = problems.of(
                failure,
                exchange.getRequest().getPath().value(),
                locale(exchange),
                ExchangeHeaderRecord.of(exchange, headers)::addIfAbsent);
        if (problem == null) {
            return Mono.error(failure);
        }
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        if (errorViews.applyTo(exchange, problem.getStatusCode())) {
            return errorViews.send(problem, exchange);
        }
        return ServerResponse.from(problem).flatMap(response -> response.writeTo(exchange, context));
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
