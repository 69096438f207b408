package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.RequestLimit;
import io.ratelimit.limiter.AcquireRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A request with the rules that match it. */
public record MatchedRequest(List<Match> matches) {

    static final MatchedRequest NONE = new MatchedRequest(List.of());

    public boolean isLimited() {
        return !matches.isEmpty();
    }

    public boolean readsPrincipal() {
        for (Match match : matches) {
            if (match.limit().readsPrincipal()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Creates the charges of the request, one for each limit. Without charges, the request is not limited.
     *
     * @throws RateLimitExpressionException if an expression does not result in a usable value
     */
    public AcquireRequest acquireRequest(CallerRequest request) {
        List<Charge> charges = new ArrayList<>(matches.size());
        for (Match match : matches) {
            Charge charge = match.limit().charge(request, match.variables());
            if (charge != null && isNew(charge, charges)) {
                charges.add(charge);
            }
        }
        return new AcquireRequest(request.unpaid(charges), false, request);
    }

    private static boolean isNew(Charge charge, List<Charge> charges) {
        for (Charge other : charges) {
            if (other.limit().id().equals(charge.limit().id())) {
                return false;
            }
        }
        return true;
    }

    /**
     * The limit of a matching rule.
     *
     * @param variables the path variables of the request
     */
    record Match(RequestLimit limit, Map<String, String> variables) {}
}
