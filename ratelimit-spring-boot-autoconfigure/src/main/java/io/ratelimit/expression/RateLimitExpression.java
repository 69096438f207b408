package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
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
            SpelMessage.INVALID_SECOND_OPERAND_FOR_MATCHES_OPERATOR,
            SpelMessage.FLAWED_PATTERN,
            SpelMessage.PROJECTION_NOT_SUPPORTED_ON_TYPE,
            SpelMessage.INVALID_TYPE_FOR_SELECTION);

    /** Failures of SpEL if a type does not have what the expression reads. Their messages name types alone. */
    private static final Set<SpelMessage> TYPE_FAILURES =
            Set.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE, SpelMessage.METHOD_NOT_FOUND);

    /** What the names of the failures of SpEL begin with if a value is too large for it. Versions of Spring have different ones. */
    private static final String TOO_LARGE = "MAX_";

    /** What a bean throws if it cannot use an argument, such as a header. Others are failures of the server. */
    private static final List<Class<? extends RuntimeException>> VALUE_EXCEPTIONS = List.of(
            NullPointerException.class,
            IllegalArgumentException.class,
            IndexOutOfBoundsException.class,
            ArithmeticException.class,
            DateTimeException.class,
            NoSuchElementException.class);

    /** What SpEL throws if an expression does not fit to types, or around what called code throws. */
    private static final List<Class<? extends Exception>> TYPE_EXCEPTIONS = List.of(
            EvaluationException.class,
            AccessException.class,
            ReflectiveOperationException.class,
            ClassCastException.class);

    /** Matches the arguments of a call that no method accepts, because one is null and not an {@code int}. */
    private static final Pattern WITH_NULL = Pattern.compile("[(,]null[,)]");

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
            if (isOf(NULL_FAILURES, cause)) {
                return null;
            }
            throw cause == null ? ex : failure(label, limit, cause, isOfInput(cause, evaluation));
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
        return thrown instanceof StackOverflowError || (thrown instanceof Exception && !isOfType(thrown) && !ofServer);
    }

    /**
     * Returns what a call fails with whose key, cost and so on could not be determined.
     *
     * @param label what has failed, for the message, which does not repeat that of the cause: it may contain arguments
     * @param ofInput whether a value of the caller is the reason, also if the type of the cause does not tell
     */
    static RateLimitExpressionException failure(String label, RateLimit limit, Throwable cause, boolean ofInput) {
        return ofInput || isOfValue(cause)
                ? new RateLimitInputException(
                        limit.name(), label + " failed (" + cause.getClass().getName() + ")", cause)
                : new RateLimitExpressionException(
                        label + " failed" + (isOf(TYPE_FAILURES, cause) ? " (" + cause.getMessage() + ")" : ""), cause);
    }

    /** Returns what the called code has thrown: SpEL wraps some of it. */
    private static Throwable thrown(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause != null && isOfType(failure) && !isOf(VALUE_FAILURES, failure) ? thrown(cause) : failure;
    }

    private static boolean isOfType(Throwable failure) {
        return TYPE_EXCEPTIONS.stream().anyMatch(type -> type.isInstance(failure));
    }

    private static boolean isOfValue(Throwable failure) {
        return isOf(NULL_FAILURES, failure)
                || isOf(VALUE_FAILURES, failure)
                || (failure instanceof SpelEvaluationException ex
                        && (ex.getMessageCode().name().startsWith(TOO_LARGE)
                                || WITH_NULL.matcher(ex.getMessage()).find()))
                || VALUE_EXCEPTIONS.stream().anyMatch(type -> type.isInstance(failure));
    }

    private static boolean isOf(Set<SpelMessage> messages, @Nullable Throwable failure) {
        return failure instanceof SpelEvaluationException ex && messages.contains(ex.getMessageCode());
    }

    private @Nullable Object value(Evaluation evaluation) {
        try {
            Object value = path == null ? PropertyPath.UNREAD : path.read(evaluation);
            return value == PropertyPath.UNREAD ? expression.getValue(evaluation.context()) : value;
        } catch (RuntimeException | StackOverflowError ex) {
            // The message of the cause may contain arguments, so it is not part of this one.
            throw new RateLimitExpressionException(label + " failed", thrown(ex));
        }
    }

    private static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }
}
