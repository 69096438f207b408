package io.ratelimit.aop;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
        return operation.needsContext()
                ? operation.charge(expressions.context(request, variables))
                : operation.charge();
    }
}
