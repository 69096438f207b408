package io.ratelimit.expression;

import io.ratelimit.Charge;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.limiter.EffectiveLimit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Determines the charge of a call to one limit, which can change. Created at startup from annotation, configuration and defaults.
 *
 * @param key {@code null}: one bucket for all callers
 * @param permits {@code null}: always {@code fixedPermits}
 * @param condition {@code null}: always
 * @param refundOn exceptions of the method after which the charge is refunded
 */
public record RateLimitOperation(
        EffectiveLimit effective,
        @Nullable LimitKey key,
        long fixedPermits,
        @Nullable RateLimitExpression permits,
        @Nullable RateLimitExpression condition,
        List<Class<? extends Throwable>> refundOn) {

    /** Returns the limit that applies now. */
    public RateLimit limit() {
        return effective.get();
    }

    /** Returns whether the charge depends on the call. */
    public boolean needsEvaluation() {
        return key != null || permits != null || condition != null;
    }

    public boolean readsPrincipal() {
        return (key != null && key.readsPrincipal())
                || Stream.of(permits, condition)
                        .anyMatch(expression -> expression != null && expression.readsPrincipal());
    }

    /** Returns whether an expression names the principal. A key resolver may read it, which is not known before a call. */
    public boolean namesPrincipal() {
        return Stream.of(key, permits, condition)
                .anyMatch(part -> part instanceof RateLimitExpression expression && expression.readsPrincipal());
    }

    /** Returns whether the charge is refunded after this exception of the method. */
    public boolean isRefundedOn(Throwable failure) {
        for (Class<? extends Throwable> type : refundOn) {
            if (type.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    public ChargeDescription describe() {
        return new ChargeDescription(
                key == null ? LimitOverrides.ALL_CALLERS : key.text(),
                permits == null ? Long.toString(fixedPermits) : permits.text(),
                condition == null ? null : condition.text());
    }

    public Charge charge() {
        return new Charge(limit(), null, fixedPermits);
    }

    /** Returns the charge of a call, or {@code null} if the call is not limited. */
    @Nullable
    public Charge charge(Evaluation evaluation) {
        if (condition != null && !condition.condition(evaluation)) {
            return null;
        }
        RateLimit limit = limit();
        return new Charge(
                limit,
                key == null ? null : key.key(evaluation, limit),
                permits == null ? fixedPermits : permits.permits(evaluation));
    }
}
