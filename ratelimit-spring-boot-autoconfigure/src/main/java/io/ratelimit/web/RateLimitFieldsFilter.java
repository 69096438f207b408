package io.ratelimit.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Says which thread handles a request, so that no other touches its response, and writes what others have recorded: when the
 * container comes back to the request, and at its end.
 */
public final class RateLimitFieldsFilter extends OncePerRequestFilter implements Ordered {

    private final WebSettings settings;

    public RateLimitFieldsFilter(WebSettings settings) {
        this.settings = settings;
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
        ServletRecord record = ServletRecord.of(request);
        record.begin(request, response);
        try {
            record.write(settings.fields());
            chain.doFilter(request, response);
            record.write(settings.fields());
        } finally {
            record.end();
        }
    }
}
