package io.ratelimit.expression;

import java.util.Map;

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
}
