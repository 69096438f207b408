package io.ratelimit.expression;

import io.ratelimit.RateLimitExpressionException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The limit of a URL rule, created once for the rule. */
public record RequestLimit(RateLimitOperation operation, RateLimitExpressionParser expressions) {

    /**
     * Returns what the expressions read.
     *
     * @param pathVariables from the path of the request
     */
    public Evaluation evaluation(CallerRequest request, Map<String, String> pathVariables) {
        return Evaluation.ofRequest(expressions, request, pathVariables);
    }

    /**
     * Returns what a request has actually cost; {@code null}: the charge stays.
     *
     * @param status of the response
     * @throws RateLimitExpressionException if it is not a whole number from 0 to the largest capacity
     */
    public @Nullable Long actualCost(Map<String, String> pathVariables, int status) {
        ActualCost cost = operation.actualCost();
        if (cost == null) {
            return null;
        }
        Map<String, Object> variables = new HashMap<>(pathVariables);
        variables.put("status", status);
        return new CallCost(cost).completed(Evaluation.ofRequest(expressions, null, variables));
    }
}
