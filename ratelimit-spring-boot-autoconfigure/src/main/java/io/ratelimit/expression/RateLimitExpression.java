package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.math.BigDecimal;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.ObjectUtils;

/**
 * Evaluates a parsed expression. Messages name the expression, never the values that it was evaluated with.
 *
 * @param label place, attribute and text, for messages
 * @param path reads the value without SpEL; {@code null} if that is not possible
 * @param type the declared type of the value; {@code null}: no declaration names it
 */
record RateLimitExpression(
        String label,
        Expression expression,
        @Nullable PropertyPath path,
        @Nullable Class<?> type,
        boolean namesPrincipal)
        implements LimitKey, LimitPlan {

    /** Stands for a value that is no number of permits. */
    private static final long INVALID = -1;

    @Override
    public String text() {
        return expression.getExpressionString();
    }

    /** @throws MissingRateLimitKeyException if the key, or a value that it is read from, is null or empty */
    @Override
    public String key(Evaluation evaluation, RateLimit limit) {
        return KeyFormatter.key(value(evaluation, limit), label, limit);
    }

    /** Reads the plan of a call, a {@link RateLimitPlan} or a name. It has none if a value that the plan is read from is null or empty. */
    @Override
    public RateLimit limit(EffectiveLimit limit, Evaluation evaluation) {
        Object value = KeyFormatter.unwrap(value(evaluation, limit.get()));
        if (value == null) {
            return limit.get();
        }
        if (value instanceof RateLimitPlan numbers) {
            return limit.plan(numbers);
        }
        if (!KeyFormatter.isSingle(value)) {
            throw new RateLimitExpressionException(label + " must return the name of a plan or a RateLimitPlan", null);
        }
        String name = KeyFormatter.text(value, label, limit.get());
        return name == null || name.isEmpty() ? limit.get() : limit.plan(name);
    }

    /** @throws RateLimitInputException if the value is no number of permits */
    long permits(Evaluation evaluation, RateLimit limit) {
        Object value = value(evaluation, limit);
        long permits = wholeNumber(value);
        if (permits == INVALID) {
            throw new RateLimitInputException(limit.name(), notWhole(value), null);
        }
        return permits;
    }

    /** Returns whether the expression is {@code null} or an empty text, whatever the call is. */
    boolean isEmpty() {
        return ((SpelExpression) expression).getAST() instanceof Literal literal
                && ObjectUtils.isEmpty(literal.getLiteralValue().getValue());
    }

    /**
     * Returns the number of permits that the expression states with literals alone, {@link #INVALID} if that is none; {@code null}
     * if it depends on the call.
     */
    @Nullable
    Long constantPermits() {
        if (!isConstant(((SpelExpression) expression).getAST())) {
            return null;
        }
        try {
            return wholeNumber(expression.getValue());
        } catch (RuntimeException ex) {
            return INVALID;
        }
    }

    private static boolean isConstant(SpelNode node) {
        return node instanceof Literal
                || (node instanceof Operator
                        && IntStream.range(0, node.getChildCount())
                                .allMatch(child -> isConstant(node.getChild(child))));
    }

    /** Returns the actual cost of a call; {@code null}: unknown. */
    @Nullable
    Long cost(Evaluation evaluation) {
        return costOf(value(evaluation));
    }

    /** Returns the actual cost that a value states; {@code null}: unknown. */
    @Nullable
    Long costOf(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        long cost = isWholeType(value) ? wholeNumber(value) : INVALID;
        if (cost == INVALID) {
            throw new RateLimitExpressionException(notWhole(value), null);
        }
        return cost;
    }

    /**
     * Returns a number of permits, also from its text, because headers and variables of paths are texts; {@link #INVALID} if there
     * is none.
     *
     * @throws RateLimitExpressionException if the type can never be one
     */
    private long wholeNumber(@Nullable Object value) {
        long number;
        if (value instanceof Number numeric) {
            number = numeric.longValue();
            boolean whole = numeric instanceof BigDecimal decimal
                    ? decimal.compareTo(BigDecimal.valueOf(number)) == 0
                    : number == numeric.doubleValue();
            if (!whole) {
                return INVALID;
            }
        } else if (value == null) {
            return INVALID;
        } else if (value instanceof String text) {
            try {
                number = Long.parseLong(text);
            } catch (NumberFormatException ex) {
                return INVALID;
            }
        } else {
            throw new RateLimitExpressionException(notWhole(value), null);
        }
        return number < 0 || number > RateLimit.MAX_CAPACITY ? INVALID : number;
    }

    /** Of a cost, which an application computes: what it has rounded is not exact. */
    private static boolean isWholeType(Object value) {
        return value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte;
    }

    /** Repeats no text, which may come from a request. */
    private String notWhole(@Nullable Object value) {
        Object shown =
                value instanceof Integer || value instanceof Long || value instanceof Double ? value : typeOf(value);
        return label + " must return a whole number from 0 to " + RateLimit.MAX_CAPACITY + " (was " + shown + ")";
    }

    /** @throws RateLimitInputException if the value is null */
    boolean condition(Evaluation evaluation, RateLimit limit) {
        Object value = value(evaluation, limit);
        if (value instanceof Boolean condition) {
            return condition;
        }
        String message = label + " must return true or false (was " + typeOf(value) + ")";
        throw value == null
                ? new RateLimitInputException(limit.name(), message, null)
                : new RateLimitExpressionException(message, null);
    }

    /**
     * Returns the value; {@code null} also if it would be read from null.
     *
     * @throws RateLimitInputException if the expression fails because of a value that the caller has passed
     */
    private @Nullable Object value(Evaluation evaluation, RateLimit limit) {
        try {
            return value(evaluation);
        } catch (RateLimitExpressionException ex) {
            Throwable cause = ex.getCause();
            if (ExpressionFailureMapper.isOfNull(cause)) {
                return null;
            }
            throw cause == null ? ex : ExpressionFailureMapper.of(label, limit, cause, isOfInput(cause, evaluation));
        }
    }

    /**
     * Returns whether an exception is due to a value that the called code, or a pattern, cannot use. A bean may fail for other
     * reasons, such as a database. A checked exception tells more than those.
     */
    private boolean isOfInput(Throwable thrown, Evaluation evaluation) {
        boolean mayCallBean = text().contains("@") || text().contains("target");
        boolean ofServer = (thrown instanceof RuntimeException && mayCallBean)
                || (thrown instanceof IllegalStateException && !evaluation.isRequest());
        return thrown instanceof StackOverflowError
                || (thrown instanceof Exception && !ExpressionFailureMapper.isOfType(thrown) && !ofServer);
    }

    private @Nullable Object value(Evaluation evaluation) {
        try {
            Object value = path == null ? PropertyPath.UNREAD : path.read(evaluation);
            return value == PropertyPath.UNREAD ? expression.getValue(evaluation.context()) : value;
        } catch (RuntimeException | StackOverflowError ex) {
            // The message of the cause may contain arguments, so it is not part of this one.
            throw new RateLimitExpressionException(label + " failed", ExpressionFailureMapper.thrown(ex));
        }
    }

    private static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }
}
