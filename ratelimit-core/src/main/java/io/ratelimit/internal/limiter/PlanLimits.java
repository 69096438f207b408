package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.concurrent.BoundedCache;
import io.ratelimit.internal.limit.LimitNames;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Finds the limit of a plan. The limits of plans that have numbers of their own are made once for the same numbers, because what
 * stores and listeners know of a limit is kept by its identity. Belongs to one limit, which does not change.
 */
final class PlanLimits {

    /** How many plans with numbers of their own are kept. */
    private static final int MOST_NUMBERS = 1_000;

    private final RateLimit limit;

    private final PlanMistakes mistakes;

    private final Consumer<RateLimit> check;

    /** By the id and by the name as configured, which most expressions return. */
    private final Map<String, RateLimit> named = new HashMap<>();

    private final BoundedCache<RateLimitPlan, RateLimit> numbered = new BoundedCache<>(MOST_NUMBERS, this::derive);

    /** @param check throws a {@link RateLimitConfigurationException} if a limit cannot apply */
    PlanLimits(RateLimit limit, PlanMistakes mistakes, Consumer<RateLimit> check) {
        this.limit = limit;
        this.mistakes = mistakes;
        this.check = check;
        limit.plans().forEach((name, plan) -> {
            named.put(LimitNames.canonical(name), plan);
            named.put(name, plan);
        });
    }

    /** Returns the limit whose plans these are. */
    RateLimit limit() {
        return limit;
    }

    /** Returns the limit of the plan with this name, which may come from a request. */
    RateLimit of(String plan) {
        return named(plan, true);
    }

    RateLimit of(RateLimitPlan plan) {
        return plan.isName() ? named(plan.name(), false) : numbered.get(plan);
    }

    private RateLimit named(String plan, boolean isText) {
        RateLimit exact = named.get(plan);
        RateLimit known = exact != null ? exact : named.get(LimitNames.canonical(plan));
        if (known == null) {
            mistakes.unknown(limit, plan, isText);
            return limit;
        }
        return known;
    }

    private RateLimit derive(RateLimitPlan plan) {
        try {
            RateLimit derived = limit.with(plan);
            check.accept(derived);
            return derived;
        } catch (RateLimitConfigurationException ex) {
            mistakes.invalid(limit, plan, ex);
            RateLimit configured = named.get(LimitNames.canonical(plan.name()));
            return configured == null ? limit : configured;
        }
    }
}
