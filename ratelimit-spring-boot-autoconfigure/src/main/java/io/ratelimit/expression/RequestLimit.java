package io.ratelimit.expression;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** What a web request is charged to before any handler sees it. Immutable, made once for each rule. */
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

    /** Whether it asks who is logged in. */
    public boolean asksForPrincipal() {
        return operation.asksForPrincipal();
    }

    /**
     * A request's charge, or {@code null} if it is not limited.
     *
     * @param variables those of the path
     * @throws RateLimitExpressionException if an expression gives nothing usable
     */
    public @Nullable Charge charge(CallerRequest request, Map<String, String> variables) {
        if (!operation.needsEvaluation()) {
            return operation.charge();
        }
        EvaluationContext context = expressions.context(request, variables);
        return operation.charge(() -> context);
    }
}
