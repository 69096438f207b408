package io.ratelimit.web.reactive;

import java.util.List;
import java.util.function.Supplier;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.cors.reactive.CorsWebFilter;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Does to the answer of a filter what the application would do to that of a handler: without the fields of CORS, a script
 * of another origin cannot read a rejection. Those that have been written are left as they are.
 */
public final class ExchangeCors {

    private final Supplier<List<CorsWebFilter>> filters;

    private final Supplier<List<HandlerMapping>> mappings;

    /** Both those of the application, in their order. */
    public ExchangeCors(Supplier<List<CorsWebFilter>> filters, Supplier<List<HandlerMapping>> mappings) {
        this.filters = filters;
        this.mappings = mappings;
    }

    /** Goes on with the answer, if the exchange's origin may be answered; if not, it has been. */
    Mono<Void> before(ServerWebExchange exchange, WebFilterChain answer) {
        if (!isCorsRequest(exchange)) {
            return answer.filter(exchange);
        }
        WebFilterChain chain = same -> byHandler(same).then(Mono.defer(() -> answer.filter(same)));
        for (CorsWebFilter filter : filters.get()) {
            WebFilterChain next = chain;
            chain = same -> filter.filter(same, next);
        }
        return chain.filter(exchange);
    }

    /** No browser sends an origin that Spring cannot read. */
    private static boolean isCorsRequest(ServerWebExchange exchange) {
        try {
            return CorsUtils.isCorsRequest(exchange.getRequest());
        } catch (IllegalArgumentException ex) {
            return false;
        }
    }

    /** To look for the handler is to write the fields. Where no handler takes the exchange, none has any. */
    private Mono<Void> byHandler(ServerWebExchange exchange) {
        return Flux.fromIterable(mappings.get())
                .concatMap(mapping -> mapping.getHandler(exchange))
                .next()
                .onErrorComplete()
                .then(Mono.fromRunnable(
                        () -> exchange.getAttributes().remove(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE)));
    }
}
