package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitException;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;

/**
 * Records the thread that handles a request, so that no other thread uses its response, and writes the headers that other
 * threads have recorded: when the container dispatches the request again, and at its end. Counts the passes of forwards and
 * includes. Tells the {@link RequestCompletion} when the thread returns. Answers the rejections that
 * filters and servlets throw, which would otherwise be server errors: only Spring's servlet calls advice.
 */
public final class RateLimitHeadersFilter implements Filter, Ordered {

    private final WebSettings settings;

    private final ServletRejectionHandler rejectionHandler;

    private final OpenRequests openRequests;

    public RateLimitHeadersFilter(WebSettings settings, ServletRejectionHandler rejectionHandler) {
        this(settings, rejectionHandler, new OpenRequests());
    }

    RateLimitHeadersFilter(WebSettings settings, ServletRejectionHandler rejectionHandler, OpenRequests openRequests) {
        this.settings = settings;
        this.rejectionHandler = rejectionHandler;
        this.openRequests = openRequests;
    }

    /** The outermost filter, because other filters may be limited, too. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void destroy() {
        openRequests.close();
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!(request instanceof HttpServletRequest http) || !(response instanceof HttpServletResponse httpResponse)) {
            chain.doFilter(request, response);
            return;
        }
        ServletHeaderRecord record = ServletHeaderRecord.of(http);
        if (record.isHandled()) {
            int outer = record.enterPass();
            try {
                chain.doFilter(request, response);
            } finally {
                record.leavePass(outer);
            }
        } else {
            doFilter(http, httpResponse, chain, record);
        }
    }

    private void doFilter(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain, ServletHeaderRecord record)
            throws ServletException, IOException {
        HttpServletResponse writing = new HeaderWritingResponse(response, record, settings.headers());
        record.begin(request, response, openRequests);
        Integer answer = null;
        try {
            record.write(settings.headers());
            RuntimeException shown = record.ofErrorPage(request);
            if (shown == null) {
                chain.doFilter(request, writing);
            } else {
                showErrorPage(request, writing, chain, shown);
            }
            record.write(settings.headers());
            answer = response.getStatus();
        } catch (ServletException | IOException | RuntimeException ex) {
            RateLimitException rejection = settings.find(ex);
            // After asynchronous processing has started, the response belongs to another thread.
            if (rejection == null || response.isCommitted() || request.isAsyncStarted()) {
                throw ex;
            }
            rejectionHandler.answerInstead(request, writing, rejection);
            record.write(settings.headers());
            answer = response.getStatus();
        } finally {
            record.end(request, answer);
        }
    }

    /** Answers as for any other caller if a filter refuses the dispatch to the error page. */
    private void showErrorPage(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain, RuntimeException rejection)
            throws ServletException, IOException {
        ErrorPageResponse page = new ErrorPageResponse(request, response);
        chain.doFilter(request, page);
        if (page.isRefused()) {
            rejectionHandler.answerInstead(request, response, rejection);
        }
    }
}
