package io.ratelimit.web.servlet;

import io.ratelimit.web.HtmlPreference;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.function.BiPredicate;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;

/** Sends the application's error view for the status to a browser: Spring Boot renders it as the container's error page. */
public final class ServletErrorViews {

    private final BiPredicate<HttpServletRequest, HttpStatusCode> views;

    /** @param views whether the application has a view for the request and status */
    public ServletErrorViews(BiPredicate<HttpServletRequest, HttpStatusCode> views) {
        this.views = views;
    }

    boolean applyTo(HttpServletRequest request, HttpStatusCode status) {
        return isBrowser(request) && views.test(request, status);
    }

    private static boolean isBrowser(HttpServletRequest request) {
        try {
            return HtmlPreference.in(
                    MediaType.parseMediaTypes(Collections.list(request.getHeaders(HttpHeaders.ACCEPT))));
        } catch (InvalidMediaTypeException ex) {
            return false;
        }
    }

    /** Sends the problem's status, detail and {@code Retry-After}, without its body. */
    void send(ErrorResponse problem, HttpServletResponse response) {
        String retryAfter = problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
        if (retryAfter != null) {
            response.setHeader(HttpHeaders.RETRY_AFTER, retryAfter);
        }
        try {
            response.sendError(
                    problem.getStatusCode().value(), problem.getBody().getDetail());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
