package io.ratelimit.web;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.DraftedCharges;
import io.ratelimit.expression.RequestLimit;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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

    /** Returns whether the request may have to wait for the plan of its caller. */
    private boolean resolvesPlans() {
        for (Match match : matches) {
            if (match.limit().resolvesPlans()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Creates the charges of the request, one for each limit. Without charges, the request is not limited. Waits for the plan of
     * the caller.
     *
     * @throws RateLimitExpressionException if an expression does not result in a usable value
     */
    public AcquireRequest acquireRequest(CallerRequest request) {
        return acquireRequest(request, resolvesPlans() ? drafted(request).await(() -> false) : charges(request));
    }

    /**
     * Creates the request without blocking: see {@link #acquireRequest}.
     *
     * @throws RateLimitExpressionException as for {@link #acquireRequest}
     */
    public CompletableFuture<AcquireRequest> acquireRequestAsync(CallerRequest request) {
        if (!resolvesPlans()) {
            return CompletableFuture.completedFuture(acquireRequest(request, charges(request)));
        }
        DraftedCharges drafted = drafted(request);
        CompletableFuture<?> plans = drafted.plans();
        return plans == null
                ? CompletableFuture.completedFuture(acquireRequest(request, drafted.charges()))
                : plans.handle((done, thrown) -> acquireRequest(request, drafted.charges()));
    }

    private static AcquireRequest acquireRequest(CallerRequest request, List<Charge> charges) {
        return AcquireRequest.of(request.unpaid(charges), request);
    }

    private List<Charge> charges(CallerRequest request) {
        List<Charge> charges = new ArrayList<>(matches.size());
        for (Match match : matches) {
            Charge charge = match.limit().charge(request, match.variables());
            if (charge != null && isNew(charge, charges)) {
                charges.add(charge);
            }
        }
        return charges;
    }

    private DraftedCharges drafted(CallerRequest request) {
        DraftedCharges drafted = new DraftedCharges();
        for (Match match : matches) {
            if (!drafted.hasChargeTo(match.limit().limit().id())) {
                match.limit().draft(request, match.variables(), drafted);
            }
        }
        return drafted;
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
