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

/** A method and all that limits it. Immutable, made once. */
final class LimitedMethod {

    private final Method method;

    /** Of each limit, disabled ones included, by its name. */
    private final Map<String, String> keys = new LinkedHashMap<>();

    /** Those that are enabled. */
    private final List<RateLimitOperation> operations;

    private final @Nullable FallbackMethod fallback;

    private final ReturnTypeStrategy style;

    private final boolean readsPrincipal;

    private final boolean refundable;

    private final boolean mayDelay;

    private final RateLimitExpressions expressions;

    /** The charges of every call, where they depend on none of its arguments. */
    private final @Nullable List<Charge> fixedCharges;

    LimitedMethod(
            Method method,
            List<RateLimitOperation> operations,
            @Nullable FallbackMethod fallback,
            ReturnTypeStrategy style,
            RateLimitExpressions expressions) {
        this.method = method;
        operations.forEach(operation -> keys.put(operation.limit().name(), operation.keyText()));
        this.operations = operations.stream()
                .filter(operation -> operation.limit().enabled())
                .toList();
        this.fallback = fallback;
        this.style = style;
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

    /** The key expression of each of its limits, disabled ones included, by the limit's name. */
    Map<String, String> keys() {
        return Collections.unmodifiableMap(keys);
    }

    @Nullable
    FallbackMethod fallback() {
        return fallback;
    }

    ReturnTypeStrategy style() {
        return style;
    }

    /** Whether a calling thread might have to wait: for the store's answer, or for permits. */
    boolean mayBlock(RateLimitGate gate) {
        return style.waits() && (mayDelay || !gate.isNonBlocking());
    }

    boolean readsPrincipal() {
        return readsPrincipal;
    }

    /** Whether a call has one limit, and nothing to give back. */
    boolean isPlain() {
        return operations.size() == 1 && !refundable;
    }

    /** What a call of a {@linkplain #isPlain() plain} method asks for; {@code null}: it is not limited. */
    @Nullable
    Charge charge(Evaluation evaluation) {
        return fixedCharges != null ? fixedCharges.get(0) : operations.get(0).charge(evaluation);
    }

    /** What a call asks for; no charges: it is not limited. */
    AcquireRequest entry(Evaluation evaluation, @Nullable CallerRequest request) {
        List<Charge> charges = fixedCharges != null ? fixedCharges : charges(evaluation);
        return request == null
                ? new AcquireRequest(charges, refundable, CallListener.NONE)
                : new AcquireRequest(request.unpaid(charges), refundable, request);
    }

    /** Those of a call's charges that the method's failure gives back. */
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
