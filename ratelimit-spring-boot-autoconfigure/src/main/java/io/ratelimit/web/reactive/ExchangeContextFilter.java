package io.ratelimit.web.reactive;

import io.ratelimit.web.WebSettings;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Puts the exchange into the context, under Spring's name for it. One instance precedes all other filters, because they may
 * be limited, and one follows them, because they may have replaced the exchange. The first one cancels what a response that is over
 * has left behind.
 */
public record ExchangeContextFilter(WebSettings settings, int order) implements WebFilter, Ordered {

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        // Registers the action before the commit while no other thread uses the response.
        ExchangeHeaderRecord.of(exchange, settings.headers());
        return order == Ordered.HIGHEST_PRECEDENCE ? cancelling(exchange, chain) : continued(exchange, chain);
    }

    private static Mono<Void> cancelling(ServerWebExchange exchange, WebFilterChain chain) {
        Sinks.Empty<Void> over = Sinks.empty();
        ServerHttpResponse response = CancellingResponse.of(exchange.getResponse(), over.asMono());
        return continued(exchange.mutate().response(response).build(), chain).doFinally(end -> over.tryEmitEmpty());
    }

    private static Mono<Void> continued(ServerWebExchange exchange, WebFilterChain chain) {
        return chain.filter(exchange)
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange));
    }

    /** Checkpoints of Reactor print it. */
    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
