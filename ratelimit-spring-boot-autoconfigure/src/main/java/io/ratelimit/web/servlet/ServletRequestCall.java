package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallEnd;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call during a servlet request, whose {@link ServletHeaderRecord} knows what limits have decided and charged. */
final class ServletRequestCall implements RequestCall {

    private final HttpServletRequest request;

    private final WebSettings settings;

    private final ServletHeaderRecord record;

    private final ChargedBuckets.Payer payer;

    private final int pass;

    /**
     * Creates a call during the request. The thread that handles the request, which {@link RateLimitHeadersFilter} records, writes
     * the response headers.
     *
     * @throws IllegalStateException if the container has finished with the request
     */
    ServletRequestCall(HttpServletRequest request, WebSettings settings, ChargedBuckets.Payer payer) {
        this.request = request;
        this.settings = settings;
        this.payer = payer;
        this.record = ServletHeaderRecord.of(request);
        this.pass = record.pass();
    }

    /** Charges the request. Has its permits released, and its cost settled, when it is over. */
    void enter(MatchedRequest matched, RateLimitGate gate) {
        AcquireRequest acquire = matched.acquireRequest(this);
        Settlement settlement = gate.enter(acquire);
        if (!settlement.holdsPermits() && !matched.isSettled()) {
            return;
        }
        // If it is, its end is told, and no other must be: between a dispatch and its thread, it would look over.
        boolean isFollowed = record.followed() != null;
        RequestCompletion completion = record.completion();
        completion.add(settlement::release);
        if (matched.isSettled()) {
            completion.add(() -> matched.settle(acquire, settlement, gate, completion.status()));
        }
        // Asked last: a thread that ends the request meanwhile may not have seen the completion.
        if (!isFollowed && !record.isHandled()) {
            completion.awaitEnd(request);
        }
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
        return record.chargedBuckets().unpaid(charges, pass, payer);
    }

    @Override
    public RequestCall endingAnyTime() {
        return new ServletRequestCall(request, settings, ChargedBuckets.Payer.TASK);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        record.chargedBuckets().add(charges, decisions, pass, payer, this);
        record.add(charges, decisions);
        record.write(settings.headers());
    }

    @Override
    public boolean follow(Object result, CallEnd end) {
        return AsyncResult.follow(request, result, end);
    }

    @Override
    public void onRefund(List<Charge> charges) {
        record.chargedBuckets().remove(charges, pass, payer);
    }

    @Override
    public void onRelease() {
        record.chargedBuckets().release(this);
    }
}
