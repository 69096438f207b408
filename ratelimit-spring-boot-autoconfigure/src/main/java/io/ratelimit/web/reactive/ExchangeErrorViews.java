package io.ratelimit.web.reactive;

import io.ratelimit.web.HtmlPreference;
import java.util.function.Predicate;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.web.ErrorResponse;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Lets a browser see the error view that the application has for the status: Spring Boot renders it for an exception. */
public final class ExchangeErrorViews {

    private final Predicate<HttpStatusCode> views;

    /** @param views whether the application has one for that status */
    public ExchangeErrorViews(Predicate<HttpStatusCode> views) {
        this.views = views;
    }

    boolean areFor(ServerWebExchange exchange, HttpStatusCode status) {
        return views.test(status) && isBrowser(exchange);
    }

    /** Of a file, Spring would write the range that is asked for, with the status of a part. */
    private static boolean isBrowser(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        try {
            return headers.getFirst(HttpHeaders.RANGE) == null && HtmlPreference.in(headers.getAccept());
        } catch (InvalidMediaTypeException ex) {
            return false;
        }
    }

    /** Fails with what the problem says. The cause is left out: it would be answered as a problem. */
    Mono<Void> send(ErrorResponse problem, ServerWebExchange exchange) {
        String retryAfter = problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
        if (retryAfter != null) {
            exchange.getResponse().getHeaders().set(HttpHeaders.RETRY_AFTER, retryAfter);
        }
        return Mono.error(new ResponseStatusException(
                problem.getStatusCode(), problem.getBody().getDetail()));
    }
}
