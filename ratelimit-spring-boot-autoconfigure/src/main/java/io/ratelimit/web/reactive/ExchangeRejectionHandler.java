package io.ratelimit.web.reactive;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.util.InvalidMimeTypeException;
import org.springframework.util.MimeTypeUtils;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Answers an exchange that a filter has rejected as if a handler had: the application's advice applies.
 *
 * @param exceptionHandlers of the application, in their order
 * @param resultHandlers of the application, in their order
 */
public record ExchangeRejectionHandler(
        Supplier<List<DispatchExceptionHandler>> exceptionHandlers,
        Supplier<List<HandlerResultHandler>> resultHandlers,
        ExchangeCors cors) {

    /** Answers the failure. The result fails with it if no handler does. */
    Mono<Void> answer(ServerWebExchange exchange, Throwable failure) {
        return cors.answerIfAdmitted(readable(exchange), admitted -> answerAdmitted(admitted, failure));
    }

    /** Removes an {@code Accept} header that Spring cannot parse, for which it would write no body. */
    private static ServerWebExchange readable(ServerWebExchange exchange) {
        try {
            // Fails for too many media types.
            MimeTypeUtils.sortBySpecificity(
                    new ArrayList<>(exchange.getRequest().getHeaders().getAccept()));
            return exchange;
        } catch (InvalidMediaTypeException | InvalidMimeTypeException ex) {
            return exchange.mutate()
                    .request(request -> request.headers(headers -> headers.remove(HttpHeaders.ACCEPT)))
                    .build();
        }
    }

    private Mono<Void> answerAdmitted(ServerWebExchange exchange, Throwable failure) {
        Mono<HandlerResult> result = Mono.error(failure);
        for (DispatchExceptionHandler handler : exceptionHandlers.get()) {
            result = result.onErrorResume(unhandled -> handler.handleError(exchange, unhandled));
        }
        return result.flatMap(handled -> Flux.fromIterable(resultHandlers.get())
                .filter(handler -> handler.supports(handled))
                .next()
                .switchIfEmpty(Mono.error(failure))
                .flatMap(handler -> handler.handleResult(exchange, handled)));
    }
}
