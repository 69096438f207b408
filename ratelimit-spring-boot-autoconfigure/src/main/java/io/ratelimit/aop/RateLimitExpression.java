package io.ratelimit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/** One expression of one method, parsed. Says which it is when it fails; never what it was evaluated with. */
final class RateLimitExpression {

    private final String label;

    private final Expression expression;

    private final @Nullable ArgumentPath path;

    private final boolean asksForPrincipal;

    /**
     * @param label place, attribute and text
     * @param path reads what the expression is, without SpEL; {@code null}: it takes SpEL
     */
    RateLimitExpression(String label, Expression expression, @Nullable ArgumentPath path, boolean asksForPrincipal) {
        this.label = label;
        this.expression = expression;
        this.path = path;
        this.asksForPrincipal = asksForPrincipal;
    }

    /** Whether it asks who is logged in. */
    boolean asksForPrincipal() {
        return asksForPrincipal;
    }

    String key(Evaluation evaluation) {
        Object value = value(evaluation);
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

    long permits(Evaluation evaluation) {
        Object value = value(evaluation);
        if (!(value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte)) {
            throw new RateLimitExpressionException(label + " is not a whole number, but " + typeOf(value), null);
        }
        long permits = ((Number) value).longValue();
        if (permits < 0) {
            throw new RateLimitExpressionException(label + " is negative: " + permits, null);
        }
        return permits;
    }

    boolean condition(Evaluation evaluation) {
        Object value = value(evaluation);
        if (value instanceof Boolean condition) {
            return condition;
        }
        throw new RateLimitExpressionException(label + " is neither true nor false, but " + typeOf(value), null);
    }

    private @Nullable Object value(Evaluation evaluation) {
        Object value = path == null ? ArgumentPath.UNREAD : path.read(evaluation.arguments());
        return value == ArgumentPath.UNREAD ? value(evaluation.context()) : value;
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
