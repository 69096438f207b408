package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitException;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Records the thread that handles a request, so that no other thread uses its response, and writes the headers that other
 * threads have recorded: when the container dispatches the request again, and at its end. Tells the
 * {@link RequestCompletion} when the thread returns. Answers the rejections that
 * filters and servlets throw, which would otherwise be server errors: only Spring's servlet calls advice.
 */
public final class RateLimitHeadersFilter extends OncePerRequestFilter implements Ordered {

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
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected boolean shouldNotFilterErrorDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        ServletHeaderRecord record = ServletHeaderRecord.of(request);
        HttpServletResponse writing = new HeaderWritingResponse(response, record, settings.headers());
        record.begin(request, response, openRequests);
        boolean answered = false;
        try {
            record.write(settings.headers());
            RuntimeException shown = record.ofErrorPage(request);
            if (shown == null) {
                chain.doFilter(request, writing);
            } else {
                showErrorPage(request, writing, chain, shown);
            }
            record.write(settings.headers());
            answered = true;
        } catch (ServletException | IOException | RuntimeException ex) {
            RateLimitException rejection = settings.find(ex);
            // After asynchronous processing has started, the response belongs to another thread.
            if (rejection == null || response.isCommitted() || request.isAsyncStarted()) {
                throw ex;
            }
            rejectionHandler.answerInstead(request, writing, rejection);
            record.write(settings.headers());
            answered = true;
        } finally {
            record.end(request, response, answered);
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
