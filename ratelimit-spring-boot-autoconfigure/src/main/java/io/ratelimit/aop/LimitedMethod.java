package io.ratelimit.aop;

import io.ratelimit.Charge;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** A method and all that limits it. Immutable, made once. */
final class LimitedMethod {

    private final Method method;

    private final List<String> limits;

    /** Those that are enabled. */
    private final List<RateLimitOperation> operations;

    private final @Nullable FallbackMethod fallback;

    private final RateLimitExpressions expressions;

    /** The charges of every call, where they depend on none of its arguments. */
    private final @Nullable List<Charge> fixedCharges;

    LimitedMethod(
            Method method,
            List<RateLimitOperation> operations,
            @Nullable FallbackMethod fallback,
            RateLimitExpressions expressions) {
        this.method = method;
        this.limits =
                operations.stream().map(operation -> operation.limit().name()).toList();
        this.operations = operations.stream()
                .filter(operation -> operation.limit().enabled())
                .toList();
        this.fallback = fallback;
        this.expressions = expressions;
        this.fixedCharges = this.operations.stream().anyMatch(RateLimitOperation::needsContext)
                ? null
                : this.operations.stream().map(RateLimitOperation::charge).toList();
    }

    Method method() {
        return method;
    }

    /** The names of its limits, disabled ones included. */
    List<String> limits() {
        return limits;
    }

    @Nullable
    FallbackMethod fallback() {
        return fallback;
    }

    List<Charge> charges(@Nullable Object target, @Nullable Object[] arguments) {
        if (fixedCharges != null) {
            return fixedCharges;
        }
        EvaluationContext context = expressions.context(method, target, arguments);
        if (operations.size() == 1) {
            Charge charge = operations.get(0).charge(context);
            return charge == null ? List.of() : List.of(charge);
        }
        List<Charge> charges = new ArrayList<>(operations.size());
        for (RateLimitOperation operation : operations) {
            Charge charge = operation.charge(context);
            if (charge != null) {
                charges.add(charge);
            }
        }
        return charges;
    }
}
