package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitPlan;
import java.time.DateTimeException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

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
        boolean readsPrincipal)
        implements LimitKey {

    /** Failures of SpEL if a value is null, such as {@code principal.name} without a principal. */
    private static final Set<SpelMessage> NULL_FAILURES = Set.of(
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

    /** Failures of SpEL if a value does not have what the expression reads, such as the second part of a header. */
    private static final Set<SpelMessage> VALUE_FAILURES = Set.of(
            SpelMessage.ARRAY_INDEX_OUT_OF_BOUNDS,
            SpelMessage.COLLECTION_INDEX_OUT_OF_BOUNDS,
            SpelMessage.STRING_INDEX_OUT_OF_BOUNDS,
            SpelMessage.TYPE_CONVERSION_ERROR,
            SpelMessage.OPERATOR_NOT_SUPPORTED_BETWEEN_TYPES,
            SpelMessage.INVALID_FIRST_OPERAND_FOR_MATCHES_OPERATOR,
            SpelMessage.FLAWED_PATTERN,
            SpelMessage.PROJECTION_NOT_SUPPORTED_ON_TYPE,
            SpelMessage.INVALID_TYPE_FOR_SELECTION);

    /** What the names of the failures of SpEL begin with if a value is too large for it. Versions of Spring have different ones. */
    private static final String TOO_LARGE = "MAX_";

    /** What a called method throws if it cannot use an argument, such as a header. Others are failures of the server. */
    private static final List<Class<? extends RuntimeException>> VALUE_EXCEPTIONS = List.of(
            NullPointerException.class,
            IllegalArgumentException.class,
            IndexOutOfBoundsException.class,
            ArithmeticException.class,
            DateTimeException.class);

    /** Stands for a value that is no number of permits. */
    private static final long INVALID = -1;

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
        Object key;
        try {
            key = value(evaluation, limit);
        } catch (RateLimitInputException ex) {
            throw isOf(NULL_FAILURES, ex.getCause()) ? KeyFormatter.missing(label, limit, "null", ex.getCause()) : ex;
        }
        return KeyFormatter.key(key, label, limit);
    }

    /**
     * Returns the plan of a call: a {@link RateLimitPlan} or a name; {@code null} if the plan, or a value that it is read from, is
     * null or empty.
     */
    @Nullable
    Object plan(Evaluation evaluation, RateLimit limit) {
        try {
            Object value = value(evaluation, limit);
            if (value instanceof RateLimitPlan || value == null) {
                return value;
            }
            String name = KeyFormatter.of(value);
            return name == null || name.isEmpty() ? null : name;
        } catch (RateLimitInputException ex) {
            if (isOf(NULL_FAILURES, ex.getCause())) {
                return null;
            }
            throw ex;
        } catch (IllegalArgumentException ex) {
            throw new RateLimitExpressionException(label + " must return the name of a plan or a RateLimitPlan", ex);
        }
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
            if (number != numeric.doubleValue()) {
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

    /** @throws RateLimitInputException if the expression fails because of a value that the caller has passed */
    private @Nullable Object value(Evaluation evaluation, RateLimit limit) {
        try {
            return value(evaluation);
        } catch (RateLimitExpressionException ex) {
            Throwable cause = ex.getCause();
            throw cause == null ? ex : failure(label, limit, cause);
        }
    }

    /**
     * Returns what a call fails with whose key, cost and so on could not be determined.
     *
     * @param label what has failed, for the message, which does not repeat that of the cause: it may contain arguments
     */
    static RateLimitExpressionException failure(String label, RateLimit limit, Throwable cause) {
        return isOfValue(cause)
                ? new RateLimitInputException(
                        limit.name(), label + " failed (" + cause.getClass().getName() + ")", cause)
                : new RateLimitExpressionException(label + " failed", cause);
    }

    private static boolean isOfValue(Throwable failure) {
        return isOf(NULL_FAILURES, failure)
                || isOf(VALUE_FAILURES, failure)
                || (failure instanceof SpelEvaluationException ex
                        && ex.getMessageCode().name().startsWith(TOO_LARGE))
                || VALUE_EXCEPTIONS.stream().anyMatch(type -> type.isInstance(failure));
    }

    private static boolean isOf(Set<SpelMessage> messages, @Nullable Throwable failure) {
        return failure instanceof SpelEvaluationException ex && messages.contains(ex.getMessageCode());
    }

    private @Nullable Object value(Evaluation evaluation) {
        Object value = path == null ? PropertyPath.UNREAD : path.read(evaluation);
        return value == PropertyPath.UNREAD ? value(evaluation.context()) : value;
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
