package io.ratelimit.web.reactive;

import io.ratelimit.web.WebSettings;
import org.springframework.core.Ordered;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Puts the exchange into the context, under the name that Spring has for it. There is one before all other filters, for
 * those that are limited, and one after them, for the exchange that they have changed.
 */
public final class ExchangeContextFilter implements WebFilter, Ordered {

    private final WebSettings settings;

    private final int order;

    public ExchangeContextFilter(WebSettings settings, int order) {
        this.settings = settings;
        this.order = order;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        // Now, while nobody else has the response, for what is to be done before its commit.
        ExchangeHeaderRecord.of(exchange, settings.headers());
        return chain.filter(exchange)
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange));
    }
}
