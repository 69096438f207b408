package io.ratelimit.web;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.DraftedCharges;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A request with the rules that match it.
 *
 * @param charging those that charge it, once it is charged, by the ids of their limits
 */
public record MatchedRequest(List<Match> matches, Map<String, Match> charging) {

    static final MatchedRequest NONE = new MatchedRequest(List.of());

    MatchedRequest(List<Match> matches) {
        this(matches, new HashMap<>(4));
    }

    /**
     * Creates a request with one limit.
     *
     * @param variables the path variables of the request
     */
    public static MatchedRequest of(RateLimitOperation operation, Map<String, String> variables) {
        return new MatchedRequest(List.of(new Match(operation, variables)));
    }

    public boolean isLimited() {
        return !matches.isEmpty();
    }

    public boolean readsPrincipal() {
        return matches.stream().anyMatch(match -> match.operation().readsPrincipal());
    }

    /** Returns whether the response determines what the request costs. */
    public boolean isSettled() {
        return matches.stream().anyMatch(match -> match.operation().actualCost() != null);
    }

    /** Settles what the request was charged, in the background. */
    public void settle(AcquireRequest acquired, Settlement settlement, RateLimitGate gate, int status) {
        for (Charge charge : acquired.charges()) {
            Match match = charging.get(charge.limit().id());
            if (match != null) {
                gate.settle(settlement, charge, () -> match.operation().actualCost(match.variables(), status));
            }
        }
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

    private AcquireRequest acquireRequest(RequestCall call, List<Charge> charges) {
        return new AcquireRequest(call.unpaid(charges), isSettled(), call);
    }

    private DraftedCharges drafted(RequestCall call) {
        DraftedCharges drafted = new DraftedCharges();
        for (Match match : matches) {
            if (drafted.add(match.operation(), match.operation().evaluation(call, match.variables()))) {
                charging.putIfAbsent(match.operation().limit().id(), match);
            }
        }
        return drafted;
    }

    /**
     * The limit of a matching rule.
     *
     * @param variables the path variables of the request
     */
    record Match(RateLimitOperation operation, Map<String, String> variables) {}
}
