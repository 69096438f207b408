package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import java.time.DateTimeException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

/** Maps what SpEL, and the code that it calls, throw to failures of the caller's values and failures of the server. */
final class ExpressionFailureMapper {

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

    private ExpressionFailureMapper() {}

    /**
     * Returns what a call fails with whose key, cost and so on could not be determined.
     *
     * @param label what has failed, for the message, which does not repeat that of the cause: it may contain arguments
     * @param ofInput whether a value of the caller is the reason, also if the type of the cause does not tell
     */
    static RateLimitExpressionException of(String label, RateLimit limit, Throwable cause, boolean ofInput) {
        return ofInput || isOfValue(cause)
                ? new RateLimitInputException(
                        limit.name(), label + " failed (" + cause.getClass().getName() + ")", cause)
                : new RateLimitExpressionException(
                        label + " failed" + (isOf(TYPE_FAILURES, cause) ? " (" + cause.getMessage() + ")" : ""), cause);
    }

    /** Returns what the called code has thrown: SpEL wraps some of it. */
    static Throwable thrown(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause != null && isOfType(failure) && !isOf(VALUE_FAILURES, failure) ? thrown(cause) : failure;
    }

    /** Returns whether the reason is that an expression does not fit to types, also in what it calls. */
    static boolean isOfType(Throwable failure) {
        return TYPE_EXCEPTIONS.stream().anyMatch(type -> type.isInstance(failure));
    }

    /** Returns whether SpEL has failed because a value is null. */
    static boolean isOfNull(@Nullable Throwable failure) {
        return isOf(NULL_FAILURES, failure);
    }

    private static boolean isOfValue(Throwable failure) {
        return isOfNull(failure)
                || isOf(VALUE_FAILURES, failure)
                || (failure instanceof SpelEvaluationException ex
                        && (ex.getMessageCode().name().startsWith(TOO_LARGE)
                                || WITH_NULL.matcher(ex.getMessage()).find()))
                || VALUE_EXCEPTIONS.stream().anyMatch(type -> type.isInstance(failure));
    }

    private static boolean isOf(Set<SpelMessage> messages, @Nullable Throwable failure) {
        return failure instanceof SpelEvaluationException ex && messages.contains(ex.getMessageCode());
    }
}
