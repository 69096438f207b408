package io.ratelimit.web;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.DraftedCharges;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.expression.RequestLimit;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.spi.Charge;
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
            if (match.limit().operation().readsPrincipal()) {
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
    public AcquireRequest acquireRequest(RequestCall call) {
        return acquireRequest(call, drafted(call).await(() -> false));
    }

    /**
     * Creates the request without blocking: see {@link #acquireRequest}.
     *
     * @throws RateLimitExpressionException as for {@link #acquireRequest}
     */
    public CompletableFuture<AcquireRequest> acquireRequestAsync(RequestCall call) {
        return drafted(call).awaitAsync().thenApply(charges -> acquireRequest(call, charges));
    }

    private static AcquireRequest acquireRequest(RequestCall call, List<Charge> charges) {
        return AcquireRequest.of(call.unpaid(charges), call);
    }

    private DraftedCharges drafted(RequestCall call) {
        DraftedCharges drafted = new DraftedCharges();
        for (Match match : matches) {
            drafted.add(match.limit().operation(), match.limit().evaluation(call.request(), match.variables()));
        }
        return drafted;
    }

    /**
     * The limit of a matching rule.
     *
     * @param variables the path variables of the request
     */
    record Match(RequestLimit limit, Map<String, String> variables) {}
}
