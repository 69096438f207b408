package io.ratelimit.web.servlet;

import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;

/**
 * Limits servlet requests by URL, on their first dispatch only. Permits are held until the response is complete, which can
 * determine what the request costs.
 *
 * @param ruleOrder of the rules that it applies
 */
public record RequestLimitFilter(
        RequestRuleMapping rules,
        RuleOrder ruleOrder,
        RateLimitGate gate,
        WebSettings settings,
        ServletRejectionHandler rejectionHandler)
        implements Filter, Ordered {

    @Override
    public int getOrder() {
        return rules.filterOrder(ruleOrder);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        ServletRequest followed = request;
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse httpResponse
                && http.getDispatcherType() == DispatcherType.REQUEST
                && rules.hasRules(ruleOrder)) {
            try {
                acquire(http);
                followed = followed(http, response);
            } catch (RuntimeException ex) {
                rejectionHandler.answer(http, httpResponse, ex);
                return;
            }
        }
        chain.doFilter(followed, response);
    }

    /**
     * Returns the request, whose asynchronous processing notes failures of the response also if it is started without one. It has
     * the request and response of the container even then: those of other filters may be of no use when the thread has returned.
     */
    private ServletRequest followed(HttpServletRequest request, ServletResponse response) {
        ServletHeaderRecord record = ServletHeaderRecord.of(request);
        return record.followed() == null
                ? request
                : new HttpServletRequestWrapper(request) {
                    @Override
                    public AsyncContext startAsync() {
                        ServletRequest from = request;
                        while (from instanceof ServletRequestWrapper wrapper) {
                            from = wrapper.getRequest();
                        }
                        ServletResponse to = response;
                        while (to instanceof ServletResponseWrapper wrapper) {
                            to = wrapper.getResponse();
                        }
                        return startAsync(
                                from, new HeaderWritingResponse((HttpServletResponse) to, record, settings.headers()));
                    }
                };
    }

    private void acquire(HttpServletRequest request) {
        MatchedRequest matched = rules.match(
                ruleOrder, request.getMethod(), ServletCors.isPreflight(request), ServletRequestPaths.of(request));
        if (matched.isLimited()) {
            new ServletRequestCall(request, settings, ChargedBuckets.Payer.RULE).enter(matched, gate);
        }
    }
}
