package io.ratelimit.expression;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Determines the charge of a web request before it reaches a handler. Created once for each URL rule. */
public final class RequestLimit {

    private final RateLimitOperation operation;

    private final RateLimitExpressions expressions;

    RequestLimit(RateLimitOperation operation, RateLimitExpressions expressions) {
        this.operation = operation;
        this.expressions = expressions;
    }

    public RateLimit limit() {
        return operation.limit();
    }

    /** Calls the listener after each change of the limit. */
    public void addListener(Runnable listener) {
        operation.effective().addListener(listener);
    }

    /** Returns whether an expression names the principal. */
    public boolean namesPrincipal() {
        return operation.namesPrincipal();
    }

    /** Returns whether an expression or a key resolver may read the principal. */
    public boolean readsPrincipal() {
        return operation.readsPrincipal();
    }

    /**
     * Returns the charge of a request, or {@code null} if it is not limited.
     *
     * @param variables from the path of the request
     * @throws RateLimitExpressionException if an expression fails or its result has the wrong type
     */
    public @Nullable Charge charge(CallerRequest request, Map<String, String> variables) {
        if (!operation.needsEvaluation()) {
            return operation.charge();
        }
        EvaluationContext context = expressions.context(request, variables);
        return operation.charge(() -> context);
    }
}
