package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
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

    /** @param resolvers ours, and that of the application's handlers */
    public RejectedRequests(Supplier<List<HandlerExceptionResolver>> resolvers, ServletCors cors) {
        this.resolvers = resolvers;
        this.cors = cors;
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
        if (answer == null && !(failure instanceof RateLimitExceededException)) {
            throw failure;
        }
        // There is no servlet yet that could render a view, but the container has error pages.
        HttpStatusCode status = answer == null ? null : answer.getStatus();
        response.sendError(status == null ? HttpStatus.TOO_MANY_REQUESTS.value() : status.value());
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
