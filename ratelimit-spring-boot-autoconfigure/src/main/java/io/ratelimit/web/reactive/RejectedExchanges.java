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

/** Answers an exchange that a filter has stopped as if a handler had: whatever advice the application has applies. */
public final class RejectedExchanges {

    private final Supplier<List<DispatchExceptionHandler>> exceptionHandlers;

    private final Supplier<List<HandlerResultHandler>> resultHandlers;

    private final ExchangeCors cors;

    /** The handlers are those of the application's handlers, in their order. */
    public RejectedExchanges(
            Supplier<List<DispatchExceptionHandler>> exceptionHandlers,
            Supplier<List<HandlerResultHandler>> resultHandlers,
            ExchangeCors cors) {
        this.exceptionHandlers = exceptionHandlers;
        this.resultHandlers = resultHandlers;
        this.cors = cors;
    }

    /** Fails with the failure, if nobody answers it. */
    Mono<Void> answer(ServerWebExchange exchange, Throwable failure) {
        return cors.before(readable(exchange), admitted -> answerAdmitted(admitted, failure));
    }

    /** Spring writes no body where it cannot read what the request accepts. */
    private static ServerWebExchange readable(ServerWebExchange exchange) {
        try {
            // Which fails for too many.
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
