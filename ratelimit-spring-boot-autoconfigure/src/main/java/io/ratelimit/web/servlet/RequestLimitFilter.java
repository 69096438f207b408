package io.ratelimit.web.servlet;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.RequestRules;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Function;
import org.springframework.core.Ordered;

/** Limits servlet requests by their URLs: once, when they come from outside. */
public final class RequestLimitFilter implements Filter, Ordered {

    private final RequestRules rules;

    private final RateLimitGate gate;

    private final Function<HttpServletRequest, CallerRequest> callers;

    private final RejectedRequests rejected;

    private final int order;

    /** @param callers makes of a servlet request what expressions may ask */
    public RequestLimitFilter(
            RequestRules rules,
            RateLimitGate gate,
            Function<HttpServletRequest, CallerRequest> callers,
            RejectedRequests rejected,
            int order) {
        this.rules = rules;
        this.gate = gate;
        this.callers = callers;
        this.rejected = rejected;
        this.order = order;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse httpResponse
                && http.getDispatcherType() == DispatcherType.REQUEST) {
            try {
                enter(http);
            } catch (RuntimeException ex) {
                rejected.answer(http, httpResponse, ex);
                return;
            }
        }
        chain.doFilter(request, response);
    }

    private void enter(HttpServletRequest request) {
        MatchedRequest matched =
                rules.match(request.getMethod(), ServletCors.isPreflight(request), ServletRequestPaths.of(request));
        if (!matched.isLimited()) {
            return;
        }
        AcquireRequest entry = matched.acquireRequest(callers.apply(request));
        if (!entry.charges().isEmpty()) {
            gate.enter(entry);
        }
    }
}
