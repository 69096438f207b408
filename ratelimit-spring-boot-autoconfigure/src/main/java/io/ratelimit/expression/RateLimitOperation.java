package io.ratelimit.expression;

import io.ratelimit.Charge;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one annotation came to: annotation, configuration and defaults, merged and parsed.
 *
 * @param key {@code null}: one bucket for all callers
 * @param permits {@code null}: {@code fixedPermits} every time
 * @param condition {@code null}: always
 * @param refundOn failures of the method that give the charge back
 */
public record RateLimitOperation(
        RateLimit limit,
        @Nullable RateLimitExpression key,
        long fixedPermits,
        @Nullable RateLimitExpression permits,
        @Nullable RateLimitExpression condition,
        List<Class<? extends Throwable>> refundOn) {

    /** Whether it takes an expression to tell the charge. */
    public boolean needsEvaluation() {
        return key != null || permits != null || condition != null;
    }

    public boolean asksForPrincipal() {
        return Stream.of(key, permits, condition)
                .anyMatch(expression -> expression != null && expression.asksForPrincipal());
    }

    /** Whether the method's failure gives the charge back. */
    public boolean isRefundedOn(Throwable failure) {
        for (Class<? extends Throwable> type : refundOn) {
            if (type.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    /** The key's expression, as the configuration would spell it. */
    public String keyText() {
        return key == null ? LimitOverrides.ALL_CALLERS : key.text();
    }

    public Charge charge() {
        return new Charge(limit, null, fixedPermits);
    }

    /** A call's charge, or {@code null} if the call is not limited. */
    @Nullable
    public Charge charge(Evaluation evaluation) {
        if (condition != null && !condition.condition(evaluation)) {
            return null;
        }
        return new Charge(
                limit,
                key == null ? null : key.key(evaluation, limit),
                permits == null ? fixedPermits : permits.permits(evaluation));
    }
}
