package io.ratelimit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/** One expression of one method, parsed. Says which it is when it fails; never what it was evaluated with. */
final class RateLimitExpression {

    private final String label;

    private final Expression expression;

    private final boolean asksForPrincipal;

    /** @param label place, attribute and text */
    RateLimitExpression(String label, Expression expression, boolean asksForPrincipal) {
        this.label = label;
        this.expression = expression;
        this.asksForPrincipal = asksForPrincipal;
    }

    /** Whether it asks who is logged in. */
    boolean asksForPrincipal() {
        return asksForPrincipal;
    }

    String key(EvaluationContext context) {
        Object value = value(context);
        String key;
        try {
            key = KeyText.of(value);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitExpressionException(label + ": " + ex.getMessage(), ex);
        }
        if (key == null || key.isEmpty()) {
            throw new RateLimitExpressionException(
                    label + " is " + (key == null ? "null" : "empty") + "; callers without a key share no bucket",
                    null);
        }
        return key;
    }

    long permits(EvaluationContext context) {
        Object value = value(context);
        if (!(value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte)) {
            throw new RateLimitExpressionException(label + " is not a whole number, but " + typeOf(value), null);
        }
        long permits = ((Number) value).longValue();
        if (permits < 0) {
            throw new RateLimitExpressionException(label + " is negative: " + permits, null);
        }
        return permits;
    }

    boolean condition(EvaluationContext context) {
        Object value = value(context);
        if (value instanceof Boolean condition) {
            return condition;
        }
        throw new RateLimitExpressionException(label + " is neither true nor false, but " + typeOf(value), null);
    }

    private @Nullable Object value(EvaluationContext context) {
        try {
            return expression.getValue(context);
        } catch (RuntimeException ex) {
            // Its message may hold what the call was made with; whoever may see that finds it in the cause.
            throw new RateLimitExpressionException(label + " failed", ex);
        }
    }

    private static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }
}
