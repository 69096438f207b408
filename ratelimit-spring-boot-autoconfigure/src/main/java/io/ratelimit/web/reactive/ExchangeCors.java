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
 * Applies the application's CORS configuration to the response of a filter: without CORS headers, a script of another
 * origin cannot read a rejection. Headers that are already set are kept.
 *
 * @param filters of the application, in their order
 * @param mappings of the application, in their order
 */
public record ExchangeCors(Supplier<List<CorsWebFilter>> filters, Supplier<List<HandlerMapping>> mappings) {

    /** Calls {@code answer} if the exchange's origin is admitted. If not, the exchange has been answered. */
    Mono<Void> answerIfAdmitted(ServerWebExchange exchange, WebFilterChain answer) {
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

    /** An origin that Spring cannot parse does not come from a browser. */
    private static boolean isCorsRequest(ServerWebExchange exchange) {
        try {
            return CorsUtils.isCorsRequest(exchange.getRequest());
        } catch (IllegalArgumentException ex) {
            return false;
        }
    }

    /** Looks up the handler, which sets the CORS headers. Without a handler, there is no CORS configuration of one. */
    private Mono<Void> byHandler(ServerWebExchange exchange) {
        return Flux.fromIterable(mappings.get())
                .concatMap(mapping -> mapping.getHandler(exchange))
                .next()
                .onErrorComplete()
                .then(Mono.fromRunnable(
                        () -> exchange.getAttributes().remove(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE)));
    }
}
