package io.ratelimit.web.servlet;

import io.ratelimit.web.RateLimitExceptions;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/** Answers a request that a filter has stopped as if a handler had: whatever advice the application has applies. */
public final class RejectedRequests {

    private final Supplier<List<HandlerExceptionResolver>> resolvers;

    private final ServletCors cors;

    private final WebSettings settings;

    /** @param resolvers ours, and that of the application's handlers */
    public RejectedRequests(
            Supplier<List<HandlerExceptionResolver>> resolvers, ServletCors cors, WebSettings settings) {
        this.resolvers = resolvers;
        this.cors = cors;
        this.settings = settings;
    }

    /**
     * Answers a request that somebody has begun to answer. What is in the response so far goes, as Spring's servlet does it
     * before it asks for advice.
     *
     * @throws RuntimeException the failure, if nobody answers it
     */
    void answerInstead(HttpServletRequest request, HttpServletResponse response, RuntimeException failure)
            throws IOException {
        response.resetBuffer();
        response.setHeader(HttpHeaders.CONTENT_TYPE, null);
        response.setHeader(HttpHeaders.CONTENT_DISPOSITION, null);
        answer(request, response, failure);
    }

    /** @throws RuntimeException the failure, if nobody answers it */
    void answer(HttpServletRequest request, HttpServletResponse response, RuntimeException failure) throws IOException {
        if (!cors.admits(request, response)) {
            return;
        }
        ModelAndView answer = resolve(request, response, failure);
        if (answer != null && answer.isEmpty()) {
            return;
        }
        HttpStatusCode status = settings.status(RateLimitExceptions.find(failure));
        if (status == null) {
            throw failure;
        }
        // There is no servlet yet that could render a view, but the container has error pages.
        response.sendError(status(answer, response, status));
    }

    /** What the advice has said, by its view or by an annotation; otherwise that of the failure. */
    private static int status(@Nullable ModelAndView answer, HttpServletResponse response, HttpStatusCode otherwise) {
        HttpStatusCode said = answer == null ? null : answer.getStatus();
        if (said != null) {
            return said.value();
        }
        return response.getStatus() >= HttpStatus.BAD_REQUEST.value() ? response.getStatus() : otherwise.value();
    }

    private @Nullable ModelAndView resolve(
            HttpServletRequest request, HttpServletResponse response, RuntimeException failure) {
        for (HandlerExceptionResolver resolver : resolvers.get()) {
            ModelAndView answer = resolver.resolveException(request, response, null, failure);
            if (answer != null) {
                return answer;
            }
        }
        return null;
    }
}
