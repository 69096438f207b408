package io.ratelimit.expression;

import java.util.function.Supplier;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Tells how a {@link CallCost} is computed: by an expression of their result, or by a collector of all their results.
 *
 * @param readsException whether the expression is also of use if a call fails
 * @param collector {@code null}: the cost is the value of the expression
 */
public record ActualCost(
        RateLimitExpression expression,
        boolean readsException,
        @Nullable Supplier<Collector<Object, Object, ?>> collector) {}
