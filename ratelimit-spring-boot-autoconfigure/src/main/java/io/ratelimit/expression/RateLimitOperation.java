package io.ratelimit.expression;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.spi.Charge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Determines the charge of a call to one limit, which can change. Created at startup from annotation, configuration and defaults.
 *
 * @param expressions creates the contexts of the expressions
 * @param key {@code null}: one bucket for all callers
 * @param permits {@code null}: always {@code fixedPermits}
 * @param condition {@code null}: always
 * @param refundOn exceptions of the method after which the charge is refunded
 * @param actualCost what the charge is settled at after the call; {@code null}: the charge stays
 * @param plan {@code null}: callers have no plans
 */
public record RateLimitOperation(
        EffectiveLimit effective,
        RateLimitExpressionParser expressions,
        @Nullable LimitKey key,
        long fixedPermits,
        @Nullable RateLimitExpression permits,
        @Nullable RateLimitExpression condition,
        List<Class<? extends Throwable>> refundOn,
        @Nullable ActualCost actualCost,
        @Nullable LimitPlan plan) {

    /** Returns the limit that applies now. */
    public RateLimit limit() {
        return effective.get();
    }

    /** Returns whether the limit may apply to a call: to one without a plan, or by its plan. */
    public boolean isEnabled() {
        return plan != null || limit().enabled();
    }

    /** Returns whether a call may have to wait before it proceeds, unless a bean determines the numbers of its plan. */
    public boolean mayDelay() {
        return plan == null ? limit().mayDelay() : limit().withPlans().stream().anyMatch(RateLimit::mayDelay);
    }

    /** Returns whether the charge depends on the call. */
    public boolean needsEvaluation() {
        return key != null || permits != null || condition != null || plan != null;
    }

    /** Returns whether the principal may be read: a key resolver may read it. */
    public boolean readsPrincipal() {
        return key instanceof ResolvedKey || namesPrincipal();
    }

    /** Returns whether an expression names the principal. */
    public boolean namesPrincipal() {
        return (key != null && key.namesPrincipal())
                || (plan != null && plan.namesPrincipal())
                || (permits != null && permits.namesPrincipal())
                || (condition != null && condition.namesPrincipal());
    }

    /** Returns whether the charge is refunded after this exception of the method: not if the limit has got a lease meanwhile. */
    public boolean isRefundedOn(Throwable failure) {
        for (Class<? extends Throwable> type : refundOn) {
            if (type.isInstance(failure) && limit().lease() == 0) {
                return true;
            }
        }
        return false;
    }

    public ChargeDescription describe() {
        return new ChargeDescription(
                key == null ? LimitConfiguration.ALL_CALLERS : key.text(),
                permits == null ? Long.toString(fixedPermits) : permits.text(),
                condition == null ? null : condition.text(),
                actualCost == null ? null : actualCost.expression().text(),
                plan == null ? null : plan.text());
    }

    /** Returns the charge of every call, if none {@linkplain #needsEvaluation needs an evaluation}. */
    public Charge charge() {
        return new Charge(limit(), null, fixedPermits);
    }

    /**
     * Returns the charge of a call, or {@code null} if the call is not limited. If a bean {@linkplain #resolvesPlans finds the
     * plans}, it is not the final one.
     */
    @Nullable
    public Charge charge(Evaluation evaluation) {
        if (condition != null && !condition.condition(evaluation, limit())) {
            return null;
        }
        String callersKey = null;
        MissingRateLimitKeyException missing = null;
        try {
            callersKey = key == null ? null : key.key(evaluation, limit());
        } catch (MissingRateLimitKeyException ex) {
            missing = ex;
        }
        RateLimit limit = plan == null ? limit() : plan.limit(effective, evaluation);
        if (missing != null && limit.enabled()) {
            throw missing;
        }
        boolean limited = plan == null || plan.isResolved() || limit.enabled();
        return limited && missing == null ? new Charge(limit, callersKey, permits(evaluation, limit)) : null;
    }

    /** An estimate is at least 1, because a free call is never rejected, not even by a bucket in debt. */
    private long permits(Evaluation evaluation, RateLimit limit) {
        long taken = permits == null ? fixedPermits : permits.permits(evaluation, limit);
        return actualCost == null ? taken : Math.max(1, taken);
    }

    /**
     * Returns what the expressions read of a request.
     *
     * @param pathVariables from the path of the request
     */
    public Evaluation evaluation(RequestCall request, Map<String, String> pathVariables) {
        return new Evaluation(expressions, request, pathVariables);
    }

    /**
     * Returns what a request has actually cost; {@code null}: the charge stays.
     *
     * @param status of the response
     * @throws RateLimitExpressionException if it is not a whole number from 0 to the largest capacity
     */
    public @Nullable Long actualCost(Map<String, String> pathVariables, int status) {
        if (actualCost == null) {
            return null;
        }
        Map<String, Object> variables = new HashMap<>(pathVariables);
        variables.put("status", status);
        return new CallCost(actualCost).completed(new Evaluation(expressions, null, variables));
    }

    /** Returns whether a bean finds the plans. Then the charge of a call is one of the limit's own numbers, to be planned. */
    public boolean resolvesPlans() {
        return plan != null && plan.isResolved();
    }

    /** Returns what a call has to wait for before its charge is planned; {@code null}: nothing. */
    @Nullable
    CompletableFuture<?> awaitPlan(Charge charge) {
        return plan == null || charge.key() == null ? null : plan.await(charge.key());
    }

    /** Returns the charge by the plan of its key; {@code null} if callers with the plan are not limited. */
    @Nullable
    Charge planned(Charge charge) {
        if (plan == null || !plan.isResolved() || charge.key() == null) {
            return charge;
        }
        RateLimit limit = plan.limit(effective, charge.key());
        return limit.enabled() ? new Charge(limit, charge.key(), charge.permits()) : null;
    }
}
