package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Limits requests of routes, whose filters name a limit. */
public final class RouteLimiter {

    private final LimitOperations operations;

    private final RateLimitGate gate;

    private final WebSettings settings;

    private final Map<AppliedLimit, RateLimitOperation> limits = new ConcurrentHashMap<>();

    public RouteLimiter(LimitOperations operations, RateLimitGate gate, WebSettings settings) {
        this.operations = operations;
        this.gate = gate;
        this.settings = settings;
    }

    /**
     * Charges the request, unless it has been charged for the same limit and key before.
     *
     * @param variables the path variables of the request
     * @throws RateLimitException if the request is rejected, or the limit is unknown, because a route in Java is not checked before
     */
    public void enter(String limit, Map<String, String> variables, HttpServletRequest request) {
        RateLimitOperation applied;
        try {
            applied = limit(limit, variables.keySet());
        } catch (RateLimitConfigurationException ex) {
            throw new RateLimitExpressionException(String.valueOf(ex.getMessage()), null);
        }
        if (applied.isEnabled()) {
            new ServletRequestCall(request, settings, ChargedBuckets.Payer.ROUTE)
                    .enter(MatchedRequest.of(applied, variables), gate);
        }
    }

    /**
     * Finds the limit that a filter applies. Called when all limits are declared.
     *
     * @param variables names in the path of the route
     * @throws RateLimitConfigurationException if there is no such limit, or it cannot be applied to requests
     */
    public RateLimitOperation limit(String name, Set<String> variables) {
        return limits.computeIfAbsent(
                new AppliedLimit(name, Set.copyOf(variables)),
                applied -> operations.ofRequests(name, "filter RateLimit", List.copyOf(applied.variables)));
    }

    /** A limit by its name, and the names of the variables in the path. */
    private record AppliedLimit(String name, Set<String> variables) {}
}
