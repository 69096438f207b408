package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.limiter.AcquireRequest;
import java.util.ArrayList;
import java.util.List;

/** A request and all rules that are about it. */
public record MatchedRequest(List<RequestMatch> matches) {

    /** A request that no rule is about. */
    static final MatchedRequest NONE = new MatchedRequest(List.of());

    public boolean isLimited() {
        return !matches.isEmpty();
    }

    public boolean asksForPrincipal() {
        for (RequestMatch match : matches) {
            if (match.limit().asksForPrincipal()) {
                return true;
            }
        }
        return false;
    }

    /**
     * What the request asks for, of each limit once; no charges: it is not limited.
     *
     * @throws RateLimitExpressionException if an expression gives nothing usable
     */
    public AcquireRequest entry(CallerRequest request) {
        List<Charge> charges = new ArrayList<>(matches.size());
        for (RequestMatch match : matches) {
            Charge charge = match.limit().charge(request, match.variables());
            if (charge != null && isNew(charge, charges)) {
                charges.add(charge);
            }
        }
        return new AcquireRequest(request.unpaid(charges), false, request);
    }

    private static boolean isNew(Charge charge, List<Charge> charges) {
        for (Charge other : charges) {
            if (other.limit() == charge.limit()) {
                return false;
            }
        }
        return true;
    }
}
