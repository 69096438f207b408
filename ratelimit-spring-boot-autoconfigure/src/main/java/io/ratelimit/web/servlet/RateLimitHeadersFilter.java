package io.ratelimit.web.servlet;

import io.ratelimit.web.RateLimitExceptions;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Says which thread handles a request, so that no other touches its response, and writes what others have recorded: when the
 * container comes back to the request, and at its end. Answers the rejections that filters and servlets let through, which
 * would otherwise be errors of the server: only Spring's servlet asks for advice.
 */
public final class RateLimitHeadersFilter extends OncePerRequestFilter implements Ordered {

    private final WebSettings settings;

    private final RejectedRequests rejected;

    public RateLimitHeadersFilter(WebSettings settings, RejectedRequests rejected) {
        this.settings = settings;
        this.rejected = rejected;
    }

    /** Around all others: they may be limited, too. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
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
        record.begin(request, response);
        try {
            record.write(settings.headers());
            chain.doFilter(request, response);
            record.write(settings.headers());
        } catch (ServletException | IOException | RuntimeException ex) {
            RuntimeException rejection = RateLimitExceptions.find(ex);
            // Of a request that another thread has by now, the response is that thread's.
            if (rejection == null || response.isCommitted() || request.isAsyncStarted()) {
                throw ex;
            }
            record.write(settings.headers());
            rejected.answerInstead(request, response, rejection);
        } finally {
            record.end();
        }
    }
}
