package io.ratelimit.web.reactive;

import io.ratelimit.web.WebSettings;
import org.springframework.core.Ordered;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Puts the exchange into the context, under Spring's name for it. One instance precedes all other filters, because they may
 * be limited, and one follows them, because they may have replaced the exchange.
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
        return chain.filter(exchange)
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange));
    }
}
