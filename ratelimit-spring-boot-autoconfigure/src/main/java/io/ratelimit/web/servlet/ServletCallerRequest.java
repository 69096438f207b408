package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallEnd;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers expressions from a servlet request, and records what limits decide for its response headers. */
final class ServletCallerRequest implements CallerRequest {

    private final HttpServletRequest request;

    private final WebSettings settings;

    private final ServletHeaderRecord record;

    private final ChargedBuckets.Dispatch dispatch;

    /**
     * Creates a view of the request. The thread that handles it, which {@link RateLimitHeadersFilter} records, writes the
     * response headers.
     *
     * @throws IllegalStateException if the container has finished with the request
     */
    ServletCallerRequest(HttpServletRequest request, WebSettings settings) {
        this.request = request;
        this.settings = settings;
        this.record = ServletHeaderRecord.of(request);
        this.dispatch = record.dispatch(request);
    }

    @Override
    public String clientIp() {
        return settings.clientAddress(request.getRemoteAddr());
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
        return dispatch.isFirst() ? charges : record.chargedBuckets().uncharged(charges, dispatch);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        record.chargedBuckets().add(charges, decisions, dispatch, this);
        record.add(charges, decisions);
        record.write(settings.headers());
    }

    @Override
    public boolean follow(Object result, CallEnd end) {
        return AsyncResult.follow(request, result, end);
    }

    @Override
    public void onRefund(List<Charge> charges) {
        record.chargedBuckets().remove(charges);
    }

    @Override
    public void onRelease() {
        record.chargedBuckets().release(this);
    }
}
