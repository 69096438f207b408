package io.ratelimit.web.servlet;

import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers a request that a filter has rejected as if a handler had: the application's advice applies.
 *
 * @param resolver that of the starter, and then the one for the application's handlers
 */
public record ServletRejectionHandler(
        Supplier<HandlerExceptionResolver> resolver, ServletCors cors, WebSettings settings) {

    /**
     * Answers a request whose response may have content already. Discards the content, as Spring's servlet does before it
     * calls advice.
     *
     * @throws RuntimeException the failure, if no resolver and no status applies to it
     */
    void answerInstead(HttpServletRequest request, HttpServletResponse response, RuntimeException failure)
            throws IOException {
        response.resetBuffer();
        response.setHeader(HttpHeaders.CONTENT_TYPE, null);
        response.setHeader(HttpHeaders.CONTENT_DISPOSITION, null);
        answer(request, response, failure);
    }

    /** @throws RuntimeException the failure, if no resolver and no status applies to it */
    void answer(HttpServletRequest request, HttpServletResponse response, RuntimeException failure) throws IOException {
        if (!cors.admits(request, response)) {
            return;
        }
        ModelAndView answer = resolver.get().resolveException(request, response, null, failure);
        if (answer != null && answer.isEmpty()) {
            return;
        }
        HttpStatusCode status = settings.status(settings.find(failure));
        if (status == null) {
            throw failure;
        }
        // No servlet can render a view yet, but the container has error pages.
        response.sendError(status(answer, response, status));
    }

    /** Returns the status of the advice, by its view or by an annotation; otherwise the status of the failure. */
    private static int status(@Nullable ModelAndView answer, HttpServletResponse response, HttpStatusCode otherwise) {
        HttpStatusCode ofView = answer == null ? null : answer.getStatus();
        if (ofView != null) {
            return ofView.value();
        }
        return response.getStatus() >= HttpStatus.BAD_REQUEST.value() ? response.getStatus() : otherwise.value();
    }
}
