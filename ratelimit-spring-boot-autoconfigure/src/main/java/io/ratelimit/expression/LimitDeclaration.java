package io.ratelimit.expression;

import io.ratelimit.internal.limiter.EffectiveLimit;
import java.util.List;
import java.util.function.Supplier;

/**
 * Holds the attributes of a limit as declared, without the overrides of the configuration.
 *
 * @param name the name of the limit
 * @param limit declares the limit in the catalog, or finds it there
 * @param keyExpression empty: one bucket for all callers, if there is no resolver
 * @param keyResolver the name of a bean; empty: none
 * @param condition empty: always
 * @param permitsAfter empty: the cost is not corrected after the call
 * @param planExpression empty: no plans, if there is no resolver
 * @param planResolver the name of a bean; empty: none
 */
public record LimitDeclaration(
        String name,
        Supplier<EffectiveLimit> limit,
        String keyExpression,
        String keyResolver,
        String permits,
        String condition,
        String permitsAfter,
        List<Class<? extends Throwable>> refundOn,
        String planExpression,
        String planResolver) {}
