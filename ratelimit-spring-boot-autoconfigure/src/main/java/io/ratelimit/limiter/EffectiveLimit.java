package io.ratelimit.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimitSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds the limit that applies now, with its plans: as configured, or with overrides. A call reads it once. What is derived from
 * it is derived again when it changes.
 */
public final class EffectiveLimit {

    private final String name;

    private final PlanMistakes mistakes = new PlanMistakes();

    private volatile RateLimit configured;

    private volatile RateLimit effective;

    /** Made when a plan is looked up, for the limit of that time. */
    private volatile @Nullable PlanLimits plans;

    /** That of {@link #effective}; {@code null}: none. */
    private @Nullable RateLimitOverride override;

    /** Those of the plans of {@link #effective}, by the id of the plan. */
    private Map<String, RateLimitOverride> planOverrides = Map.of();

    private final List<Consumer<RateLimit>> checks = new CopyOnWriteArrayList<>();

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    EffectiveLimit(RateLimit configured) {
        this.name = configured.name();
        this.configured = configured;
        this.effective = configured;
    }

    /** Returns the name as declared, which does not change. */
    public String name() {
        return name;
    }

    /** Returns the limit that applies now, to callers without a plan. */
    public RateLimit get() {
        return effective;
    }

    /** Returns the limit that applies now to callers with a plan; that of others if there is no such plan. */
    public RateLimit plan(String plan) {
        return plans().named(plan);
    }

    /** Returns the limit that applies now to callers with a plan, which may have numbers of its own. */
    public RateLimit plan(RateLimitPlan plan) {
        return plans().of(plan);
    }

    private PlanLimits plans() {
        RateLimit limit = effective;
        PlanLimits known = plans;
        if (known == null || known.limit() != limit) {
            known = new PlanLimits(limit, mistakes);
            plans = known;
        }
        return known;
    }

    /** Returns the limit without the override. */
    public RateLimit configured() {
        return configured;
    }

    /**
     * Adds a check that throws a {@link RateLimitConfigurationException} if a limit cannot apply where this one does. It is not
     * called for the present limit.
     */
    public void addCheck(Consumer<RateLimit> check) {
        checks.add(check);
    }

    /** Adds a listener that is called after each change. */
    public void addListener(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Returns the limit with an override, which does not apply yet.
     *
     * @param plan the id of the plan that the override is for; {@code null}: callers without one
     * @param candidate {@code null}: without an override
     * @throws RateLimitConfigurationException if the limit or one of its plans is invalid with the override
     */
    public synchronized RateLimit with(@Nullable String plan, @Nullable RateLimitOverride candidate) {
        return plan == null
                ? checked(configured, candidate, planOverrides)
                : checked(configured, override, replaced(plan, candidate));
    }

    /**
     * Applies an override instead of the present one.
     *
     * @param plan the id of the plan that the override is for; {@code null}: callers without one
     * @param next {@code null}: none
     * @throws RateLimitConfigurationException if the limit or one of its plans is invalid with it; nothing changes
     */
    public synchronized void override(@Nullable String plan, @Nullable RateLimitOverride next) {
        RateLimitOverride ofLimit = plan == null ? next : override;
        Map<String, RateLimitOverride> ofPlans = plan == null ? planOverrides : replaced(plan, next);
        apply(configured, ofLimit, ofPlans, checked(configured, ofLimit, ofPlans));
    }

    private Map<String, RateLimitOverride> replaced(String plan, @Nullable RateLimitOverride next) {
        Map<String, RateLimitOverride> replaced = new HashMap<>(planOverrides);
        if (next == null) {
            replaced.remove(plan);
        } else {
            replaced.put(plan, next);
        }
        return Map.copyOf(replaced);
    }

    /**
     * Applies another configuration, below the present overrides. If these are invalid with it, they do not apply until they are
     * set again.
     *
     * @throws RateLimitConfigurationException if the limit is invalid; nothing changes
     */
    public synchronized void reconfigure(RateLimit next) {
        RateLimit checked = checked(next, null, Map.of());
        try {
            apply(checked, override, planOverrides, checked(checked, override, planOverrides));
        } catch (RateLimitConfigurationException ex) {
            apply(checked, null, Map.of(), checked);
        }
    }

    /**
     * Returns the limit with another configuration, which does not apply yet, or the present one if no attribute differs.
     *
     * @throws RateLimitConfigurationException if it is invalid
     */
    RateLimit with(RateLimitSettings settings) {
        RateLimit candidate = configured.with(settings);
        return candidate.hasAttributesOf(configured) ? configured : checked(candidate, null, Map.of());
    }

    private RateLimit checked(
            RateLimit base, @Nullable RateLimitOverride ofLimit, Map<String, RateLimitOverride> ofPlans) {
        RateLimit candidate = ofLimit == null && ofPlans.isEmpty() ? base : base.with(ofLimit, ofPlans);
        if (candidate != configured) {
            checks.forEach(check -> candidate.withPlans().forEach(check));
        }
        return candidate;
    }

    private void apply(
            RateLimit base,
            @Nullable RateLimitOverride ofLimit,
            Map<String, RateLimitOverride> ofPlans,
            RateLimit next) {
        boolean changes = next != effective;
        configured = base;
        override = ofLimit;
        planOverrides = ofPlans;
        effective = next;
        if (changes) {
            listeners.forEach(Runnable::run);
        }
    }
}
