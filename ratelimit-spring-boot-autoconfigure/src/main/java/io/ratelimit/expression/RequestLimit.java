package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.spi.Charge;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Determines the charge of a web request before it reaches a handler. Created once for each URL rule. */
public final class RequestLimit {

    private final RateLimitOperation operation;

    private final RateLimitExpressionParser expressions;

    RequestLimit(RateLimitOperation operation, RateLimitExpressionParser expressions) {
        this.operation = operation;
        this.expressions = expressions;
    }

    public RateLimit limit() {
        return operation.limit();
    }

    /** Describes what a request is charged. */
    public ChargeDescription describe() {
        return operation.describe();
    }

    /** Returns whether the limit applies to any request. */
    public boolean isEnabled() {
        return operation.isEnabled();
    }

    /** Returns the holder of the limit. */
    public EffectiveLimit effective() {
        return operation.effective();
    }

    /** Returns whether an expression names the principal. */
    public boolean namesPrincipal() {
        return operation.namesPrincipal();
    }

    /** Returns whether an expression or a key resolver may read the principal. */
    public boolean readsPrincipal() {
        return operation.readsPrincipal();
    }

    /** Returns whether a request may have to wait for the plan of its caller. */
    public boolean resolvesPlans() {
        return operation.resolvesPlans();
    }

    /**
     * Adds the charge of a request, unless it is not limited.
     *
     * @param variables from the path of the request
     * @throws RateLimitExpressionException if an expression fails or its result has the wrong type
     */
    public void draft(CallerRequest request, Map<String, String> variables, DraftedCharges charges) {
        charges.add(operation, charge(request, variables));
    }

    /**
     * Returns the charge of a request, or {@code null} if it is not limited. If a bean {@linkplain #resolvesPlans finds the plans},
     * it is not the final one.
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
