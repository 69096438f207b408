package io.ratelimit.aop;

import io.ratelimit.Charge;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.expression.RateLimitExpressions;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.CallListener;
import io.ratelimit.limiter.RateLimitGate;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Holds a method and its limits. Immutable, created once. */
final class LimitedMethod {

    private final Method method;

    /** The key expressions of all limits, including disabled ones, by the name of the limit. */
    private final Map<String, String> keys = new LinkedHashMap<>();

    /** Of the enabled limits. */
    private final List<RateLimitOperation> operations;

    private final @Nullable FallbackMethod fallback;

    private final ReturnTypeStrategy strategy;

    private final boolean readsPrincipal;

    private final boolean refundable;

    private final boolean mayDelay;

    private final RateLimitExpressions expressions;

    /** The charges of every call, if they do not depend on the call. */
    private final @Nullable List<Charge> fixedCharges;

    LimitedMethod(
            Method method,
            List<RateLimitOperation> operations,
            @Nullable FallbackMethod fallback,
            ReturnTypeStrategy strategy,
            RateLimitExpressions expressions) {
        this.method = method;
        operations.forEach(operation -> keys.put(operation.limit().name(), operation.keyText()));
        this.operations = operations.stream()
                .filter(operation -> operation.limit().enabled())
                .toList();
        this.fallback = fallback;
        this.strategy = strategy;
        this.readsPrincipal = this.operations.stream().anyMatch(RateLimitOperation::readsPrincipal);
        this.refundable = this.operations.stream()
                .anyMatch(operation -> !operation.refundOn().isEmpty());
        this.mayDelay =
                this.operations.stream().anyMatch(operation -> operation.limit().mayDelay());
        this.expressions = expressions;
        this.fixedCharges = this.operations.stream().anyMatch(RateLimitOperation::needsEvaluation)
                ? null
                : this.operations.stream().map(RateLimitOperation::charge).toList();
    }

    Method method() {
        return method;
    }

    /** Returns the key expressions of all limits, including disabled ones, by the name of the limit. */
    Map<String, String> keys() {
        return Collections.unmodifiableMap(keys);
    }

    MethodLimits limits() {
        return new MethodLimits(
                operations.stream().map(RateLimitOperation::limit).toList(), fallback != null);
    }

    @Nullable
    FallbackMethod fallback() {
        return fallback;
    }

    ReturnTypeStrategy strategy() {
        return strategy;
    }

    /** Returns whether a call may block its thread: to wait for the store or for permits. */
    boolean mayBlock(RateLimitGate gate) {
        return strategy.blocks() && (mayDelay || !gate.isNonBlocking());
    }

    boolean readsPrincipal() {
        return readsPrincipal;
    }

    /** Returns whether every call has at most one charge, which is never refunded. */
    boolean hasSingleCharge() {
        return operations.size() == 1 && !refundable;
    }

    /** Returns the {@linkplain #hasSingleCharge() single charge} of a call, or {@code null} if it is not limited. */
    @Nullable
    Charge charge(Evaluation evaluation) {
        return fixedCharges != null ? fixedCharges.get(0) : operations.get(0).charge(evaluation);
    }

    /** Returns the permits that a call requests; without charges if it is not limited. */
    AcquireRequest acquireRequest(Evaluation evaluation, @Nullable CallerRequest request) {
        List<Charge> charges = fixedCharges != null ? fixedCharges : charges(evaluation);
        return request == null
                ? new AcquireRequest(charges, refundable, CallListener.NONE)
                : new AcquireRequest(request.unpaid(charges), refundable, request);
    }

    /** Returns the charges that are refunded after a failure of the method. */
    List<Charge> refundable(List<Charge> charges, Throwable failure) {
        return charges.stream()
                .filter(charge -> operations.stream()
                        .anyMatch(operation -> operation.limit() == charge.limit() && operation.isRefundedOn(failure)))
                .toList();
    }

    EvaluationContext context(@Nullable Object target, @Nullable Object[] arguments, @Nullable CallerRequest request) {
        return expressions.context(method, target, arguments, request);
    }

    private List<Charge> charges(Evaluation evaluation) {
        if (operations.size() == 1) {
            Charge charge = operations.get(0).charge(evaluation);
            return charge == null ? List.of() : List.of(charge);
        }
        List<Charge> charges = new ArrayList<>(operations.size());
        for (RateLimitOperation operation : operations) {
            Charge charge = operation.charge(evaluation);
            if (charge != null) {
                charges.add(charge);
            }
        }
        return charges;
    }
}
