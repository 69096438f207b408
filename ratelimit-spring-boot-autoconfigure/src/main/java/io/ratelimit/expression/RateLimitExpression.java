package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

/** One expression of one method, parsed. Says which it is when it fails; never what it was evaluated with. */
final class RateLimitExpression {

    /** What SpEL says where something is asked of null, such as {@code principal.name} of nobody. */
    private static final Set<SpelMessage> OF_NULL = Set.of(
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

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

    String text() {
        return expression.getExpressionString();
    }

    /** Whether it asks who is logged in. */
    boolean asksForPrincipal() {
        return asksForPrincipal;
    }

    /** @throws MissingRateLimitKeyException if there is none, or something on the way to it is null */
    String key(Evaluation evaluation, RateLimit limit) {
        Object value = keyValue(evaluation, limit);
        String key;
        try {
            key = KeyFormatter.of(value);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitExpressionException(label + ": " + ex.getMessage(), ex);
        }
        if (key == null || key.isEmpty()) {
            throw missing(limit, key == null ? "null" : "empty", null);
        }
        return key;
    }

    private @Nullable Object keyValue(Evaluation evaluation, RateLimit limit) {
        try {
            return value(evaluation);
        } catch (RateLimitExpressionException ex) {
            if (ex.getCause() instanceof SpelEvaluationException failure
                    && OF_NULL.contains(failure.getMessageCode())) {
                throw missing(limit, "null", ex.getCause());
            }
            throw ex;
        }
    }

    private MissingRateLimitKeyException missing(RateLimit limit, String value, @Nullable Throwable cause) {
        return new MissingRateLimitKeyException(
                limit.name(), label + " is " + value + "; callers without a key share no bucket", cause);
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
