package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;

/**
 * Describes what a call is charged, as the declaration or the configuration says it.
 *
 * @param key the key expression, {@code resolver} and the name of a resolver, or {@code all-callers}
 * @param permits a number or an expression
 * @param condition {@code null}: always
 * @param permitsAfter the actual cost, computed after the call; {@code null}: the charge stays
 * @param plan the plan expression, or {@code resolver} and the name of a resolver; {@code null}: no plans
 */
public record ChargeDescription(
        String key,
        String permits,
        @Nullable String condition,
        @Nullable String permitsAfter,
        @Nullable String plan) {}
