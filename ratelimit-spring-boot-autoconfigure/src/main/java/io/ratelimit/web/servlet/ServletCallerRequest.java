package io.ratelimit.web.servlet;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A servlet request. */
public final class ServletCallerRequest implements CallerRequest {

    private final HttpServletRequest request;

    private final WebSettings settings;

    private final ServletHeaderRecord record;

    private final Dispatch dispatch;

    private ServletCallerRequest(HttpServletRequest request, WebSettings settings) {
        this.request = request;
        this.settings = settings;
        this.record = ServletHeaderRecord.of(request);
        this.dispatch = record.dispatch(request);
    }

    /**
     * The request as callers see it. What limits say is written to its response by the thread that handles it, which
     * {@link RateLimitHeadersFilter} knows.
     *
     * @throws IllegalStateException if the container has finished with the request
     */
    public static CallerRequest of(HttpServletRequest request, WebSettings settings) {
        return new ServletCallerRequest(request, settings);
    }

    @Override
    public String clientIp() {
        return settings.clientAddresses().normalize(request.getRemoteAddr());
    }

    @Override
    public @Nullable Principal principal() {
        return request.getUserPrincipal();
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeader(name);
    }

    @Override
    public List<Charge> unpaid(List<Charge> charges) {
        return dispatch.isFirst() ? charges : record.unpaid(charges, dispatch);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        record.add(charges, decisions, dispatch);
        record.write(settings.headers());
    }

    @Override
    public void onRefund(List<Charge> charges) {
        record.refund(charges);
    }
}
