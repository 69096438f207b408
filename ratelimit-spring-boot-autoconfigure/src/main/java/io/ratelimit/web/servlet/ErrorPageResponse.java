package io.ratelimit.web.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Finds out whether a filter refuses the dispatch to a rejection's error page, as Spring Security does unless the application
 * permits it. The caller would get a redirect to a login page, or a 401, instead of the rejection.
 */
final class ErrorPageResponse extends HttpServletResponseWrapper {

    /** Set by Spring's servlet, which no filter precedes any more. */
    private static final String REACHED = DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE;

    private final HttpServletRequest request;

    private final int status;

    private boolean ended;

    ErrorPageResponse(HttpServletRequest request, HttpServletResponse response) {
        super(response);
        this.request = request;
        this.status = response.getStatus();
        request.removeAttribute(REACHED);
    }

    /** Whether the request did not reach Spring's servlet, and has another status or was to be redirected. */
    boolean isRefused() {
        return !isReached() && !isCommitted() && (ended || getStatus() != status);
    }

    private boolean isReached() {
        return request.getAttribute(REACHED) != null;
    }

    @Override
    public void sendError(int code) throws IOException {
        if (isReached()) {
            super.sendError(code);
        }
        ended = true;
    }

    @Override
    public void sendError(int code, String message) throws IOException {
        if (isReached()) {
            super.sendError(code, message);
        }
        ended = true;
    }

    @Override
    public void sendRedirect(String location) throws IOException {
        if (isReached()) {
            super.sendRedirect(location);
        }
        ended = true;
    }
}
