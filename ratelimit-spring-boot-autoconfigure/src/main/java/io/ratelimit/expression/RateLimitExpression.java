package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitPlan;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

/** Evaluates a parsed expression. Messages name the expression, never the values that it was evaluated with. */
final class RateLimitExpression implements LimitKey {

    /** Failures of SpEL if a value is null, such as {@code principal.name} without a principal. */
    private static final Set<SpelMessage> NULL_FAILURES = Set.of(
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

    private final String label;

    private final Expression expression;

    private final @Nullable ArgumentPath path;

    private final boolean readsPrincipal;

    /**
     * @param label place, attribute and text, for messages
     * @param path reads the value without SpEL; {@code null} if that is not possible
     */
    RateLimitExpression(String label, Expression expression, @Nullable ArgumentPath path, boolean readsPrincipal) {
        this.label = label;
        this.expression = expression;
        this.path = path;
        this.readsPrincipal = readsPrincipal;
    }

    @Override
    public String text() {
        return expression.getExpressionString();
    }

    @Override
    public boolean readsPrincipal() {
        return readsPrincipal;
    }

    /** @throws MissingRateLimitKeyException if the key, or a value that it is read from, is null or empty */
    @Override
    public String key(Evaluation evaluation, RateLimit limit) {
        return KeyFormatter.key(keyValue(evaluation, limit), label, limit);
    }

    private @Nullable Object keyValue(Evaluation evaluation, RateLimit limit) {
        try {
            return value(evaluation);
        } catch (RateLimitExpressionException ex) {
            if (readsNull(ex)) {
                throw KeyFormatter.missing(label, limit, "null", ex.getCause());
            }
            throw ex;
        }
    }

    private static boolean readsNull(RateLimitExpressionException ex) {
        return ex.getCause() instanceof SpelEvaluationException failure
                && NULL_FAILURES.contains(failure.getMessageCode());
    }

    /**
     * Returns the plan of a call: a {@link RateLimitPlan} or a name; {@code null} if the plan, or a value that it is read from, is
     * null or empty.
     */
    @Nullable
    Object plan(Evaluation evaluation) {
        try {
            Object value = value(evaluation);
            if (value instanceof RateLimitPlan || value == null) {
                return value;
            }
            String name = KeyFormatter.of(value);
            return name == null || name.isEmpty() ? null : name;
        } catch (RateLimitExpressionException ex) {
            if (readsNull(ex)) {
                return null;
            }
            throw ex;
        } catch (IllegalArgumentException ex) {
            throw new RateLimitExpressionException(label + " must return the name of a plan or a RateLimitPlan", ex);
        }
    }

    long permits(Evaluation evaluation) {
        return wholeNumber(value(evaluation));
    }

    /** Returns the actual cost of a call; {@code null}: unknown. */
    @Nullable
    Long cost(Evaluation evaluation) {
        return costOf(value(evaluation));
    }

    /** Does the same for a value that was computed otherwise. */
    @Nullable
    Long costOf(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        long cost = wholeNumber(value);
        if (cost > RateLimit.MAX_CAPACITY) {
            throw new RateLimitExpressionException(
                    label + " must be at most " + RateLimit.MAX_CAPACITY + " (was " + cost + ")", null);
        }
        return cost;
    }

    private long wholeNumber(@Nullable Object value) {
        if (!(value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte)) {
            throw new RateLimitExpressionException(
                    label + " must return a whole number (was " + typeOf(value) + ")", null);
        }
        long permits = ((Number) value).longValue();
        if (permits < 0) {
            throw new RateLimitExpressionException(label + " must not be negative (was " + permits + ")", null);
        }
        return permits;
    }

    boolean condition(Evaluation evaluation) {
        Object value = value(evaluation);
        if (value instanceof Boolean condition) {
            return condition;
        }
        throw new RateLimitExpressionException(label + " must return true or false (was " + typeOf(value) + ")", null);
    }

    private @Nullable Object value(Evaluation evaluation) {
        Object value = path == null ? ArgumentPath.UNREAD : path.read(evaluation.arguments());
        return value == ArgumentPath.UNREAD ? value(evaluation.context()) : value;
    }

    private @Nullable Object value(EvaluationContext context) {
        try {
            return expression.getValue(context);
        } catch (RuntimeException ex) {
            // The message of the cause may contain arguments, so it is not part of this one.
            throw new RateLimitExpressionException(label + " failed", ex);
        }
    }

    private static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }
}
