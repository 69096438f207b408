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

/** Sends the application's error view for the status to a browser: Spring Boot renders it for an exception. */
public final class ExchangeErrorViews {

    private final Predicate<HttpStatusCode> views;

    /** @param views whether the application has a view for the status */
    public ExchangeErrorViews(Predicate<HttpStatusCode> views) {
        this.views = views;
    }

    boolean applyTo(ServerWebExchange exchange, HttpStatusCode status) {
        return views.test(status) && isBrowser(exchange);
    }

    /** With a {@code Range} header, Spring would send a part of a static view, with status 206. */
    private static boolean isBrowser(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        try {
            return headers.getFirst(HttpHeaders.RANGE) == null && HtmlPreference.in(headers.getAccept());
        } catch (InvalidMediaTypeException ex) {
            return false;
        }
    }

    /** Fails with the problem's status and detail. The cause is left out: it would be answered as a problem. */
    Mono<Void> send(ErrorResponse problem, ServerWebExchange exchange) {
        String retryAfter = problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
        if (retryAfter != null) {
            exchange.getResponse().getHeaders().set(HttpHeaders.RETRY_AFTER, retryAfter);
        }
        return Mono.error(new ResponseStatusException(
                problem.getStatusCode(), problem.getBody().getDetail()));
    }
}
