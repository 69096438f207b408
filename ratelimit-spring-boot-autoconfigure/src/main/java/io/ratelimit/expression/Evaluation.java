package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** What the expressions of one call, or of one request, are evaluated with. */
@FunctionalInterface
public interface Evaluation {

    /** The arguments of the call; a request has none. */
    default @Nullable Object[] arguments() {
        return new @Nullable Object[0];
    }

    /** What SpEL needs, the same every time. */
    EvaluationContext context();
}
