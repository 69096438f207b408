package io.ratelimit.expression;

import io.ratelimit.RateLimitExpressionException;
import org.jspecify.annotations.Nullable;

/**
 * Computes the actual cost of one call from its results. A cost of {@code null} is unknown. The methods that
 * return it throw {@link RateLimitExpressionException} if it is not a whole number from 0 to the largest capacity.
 */
public interface CallCost {

    /** Notes a result: the value that the call returns, or one of those that it emits. Never fails: the cost is unknown then. */
    void add(@Nullable Object result);

    /** Returns the result that was noted last, for the expression. */
    @Nullable
    Object lastResult();

    /** Returns the cost of a call that has returned or completed. */
    @Nullable
    Long completed(Evaluation evaluation);

    /** Returns the cost of a call that has failed, as far as it can be told. */
    @Nullable
    Long failed(Evaluation evaluation);

    /** Returns the cost of a call that was cancelled, as far as it can be told. */
    @Nullable
    Long cancelled();
}
