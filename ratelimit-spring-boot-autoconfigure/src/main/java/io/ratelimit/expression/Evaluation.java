package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Provides the values that the expressions of one call or request read. */
@FunctionalInterface
public interface Evaluation {

    /** Returns the arguments of the call; a request has none. */
    default @Nullable Object[] arguments() {
        return new @Nullable Object[0];
    }

    /** Returns the context for SpEL, always the same. */
    EvaluationContext context();
}
