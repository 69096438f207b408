package io.ratelimit.expression;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Creates operations: merges declarations with the configuration and parses their expressions. */
public record LimitOperations(LimitCatalog catalog, RateLimitExpressionParser expressions) {

    /** Matches misspellings of {@link LimitConfiguration#ALL_CALLERS}, which are never valid expressions. */
    private static final Pattern LIKE_ALL_CALLERS = Pattern.compile("(?i)all[\\w -]*");

    /** Creates operations of URL rules, which can read the request. */
    public LimitOperations(LimitCatalog catalog, ConfigurableListableBeanFactory beans) {
        this(catalog, new RateLimitExpressionParser(beans, method -> CallerFacts.REQUEST));
    }

    /**
     * Merges a declaration with the configuration.
     *
     * @param declared what the code sets for calls of the limit
     * @param declaration declares the limit in the catalog, or finds it there
     * @param scope the names that its expressions can use
     * @throws RateLimitConfigurationException if the merged declaration cannot work
     */
    public RateLimitOperation of(
            LimitConfiguration declared, Supplier<EffectiveLimit> declaration, ExpressionScope scope) {
        LimitConfiguration merged = merged(declared);
        RateLimitExpression cost = expression(LimitAttributes.PERMITS, merged, scope, Number.class, String.class);
        Long known = cost == null ? Long.valueOf(1) : cost.constantPermits();
        if (cost != null && known != null && known < 0) {
            throw new RateLimitConfigurationException(
                    merged.label(LimitAttributes.PERMITS) + " must be a whole number from 0 to "
                            + RateLimit.MAX_CAPACITY + " (was " + cost.text() + ").",
                    "Write what a call costs. 0 is free.");
        }
        EffectiveLimit limit = declaration.get();
        limit.addCheck(catalog, candidate -> checkSettled(candidate, merged));
        LimitKey key = key(merged, scope);
        return new RateLimitOperation(
                limit,
                expressions,
                key,
                known == null ? 1 : known,
                known == null ? cost : null,
                condition(merged, scope),
                refundOn(limit, merged),
                actualCost(merged, known, scope),
                plan(merged, key, scope));
    }

    /** Creates an operation for a limit that is referred to by its name only. */
    public RateLimitOperation ofConfiguration(String name, ExpressionScope scope) {
        return of(LimitConfiguration.of(name), () -> catalog.configured(name), scope);
    }

    /**
     * Creates the operation of a URL rule. Called when all limits are declared.
     *
     * @param name the name of the limit
     * @param property the prefix of the rule, such as {@code ratelimit.http[0]}
     * @param variables names in the path of the rule
     * @throws RateLimitConfigurationException if there is no such limit, or it cannot be applied to requests
     */
    public RateLimitOperation ofRequests(String name, String property, List<String> variables) {
        RateLimit limit = catalog.find(name).orElseThrow(() -> unknown(name, property));
        LimitConfiguration overrides = catalog.settings().of(name);
        try {
            if (!overrides.get(LimitAttributes.REFUND_ON, List.of()).isEmpty()) {
                throw new RateLimitConfigurationException(
                        overrides.property()
                                + ".refund-on must be empty for a limit of URLs, because no method is called that could fail.",
                        "Remove it, or set refundOn of the annotations that share the limit.");
            }
            return ofConfiguration(limit.name(), ExpressionScope.ofRequest(property, variables));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(property);
        }
    }

    private RateLimitConfigurationException unknown(String name, String property) {
        return new RateLimitConfigurationException(
                property + ".limit must be the name of a limit (was \"" + name + "\").",
                LimitNames.didYouMean(name, catalog.names(), nearest -> "'" + nearest + "'")
                        + "To declare it, set ratelimit.limits." + name + ".rate. " + catalog.known());
    }

    /** Returns whether the limit is unknown here, but may be declared by another context of the application. */
    public boolean mayBeElsewhere(String name) {
        return catalog.find(name).isEmpty()
                && catalog.mayBeAppliedElsewhere(catalog.settings().of(name).property());
    }

    /** Returns the attributes of the configuration, or else of the declaration. One key replaces the other, and one plan. */
    private LimitConfiguration merged(LimitConfiguration declared) {
        LimitConfiguration overrides = catalog.settings().of(declared.limitName());
        AttributeValues values = declared.values();
        if (overrides.hasKey()) {
            values = values.with(LimitAttributes.KEY_EXPRESSION, null).with(LimitAttributes.KEY_RESOLVER, null);
        }
        if (overrides.hasPlan()) {
            values = values.with(LimitAttributes.PLAN_EXPRESSION, null).with(LimitAttributes.PLAN_RESOLVER, null);
        }
        return overrides.with(values.overriddenBy(overrides.values()));
    }

    private @Nullable RateLimitExpression condition(LimitConfiguration merged, ExpressionScope scope) {
        boolean own = merged.values().has(LimitAttributes.CONDITION);
        return expression(LimitAttributes.CONDITION, own ? merged : defaults(), scope, Boolean.class);
    }

    private LimitConfiguration defaults() {
        return catalog.settings().defaults();
    }

    private @Nullable ActualCost actualCost(LimitConfiguration merged, @Nullable Long permits, ExpressionScope scope) {
        String text = merged.get(LimitAttributes.PERMITS_AFTER);
        if (text == null) {
            return null;
        }
        String label = merged.label(LimitAttributes.PERMITS_AFTER);
        if (permits != null && permits == 0) {
            throw new RateLimitConfigurationException(
                    merged.label(LimitAttributes.PERMITS) + " must be at least 1 with " + label
                            + ", because a free call is never rejected (was 0).",
                    "Estimate what a call costs at least. After the call, the difference is refunded or charged.");
        }
        return expressions.actualCost(text, label, scope);
    }

    /**
     * Checks the properties of a limit that change what its calls have cost.
     *
     * @throws RateLimitConfigurationException if the limit has no rate, or a lease
     */
    public static void checkSettled(RateLimit limit, LimitConfiguration overrides) {
        String permitsAfter = overrides.get(LimitAttributes.PERMITS_AFTER);
        if (permitsAfter != null) {
            checkSettled(limit, overrides.label(LimitAttributes.PERMITS_AFTER), "\"" + permitsAfter + "\"");
        }
        List<Class<? extends Throwable>> refundOn = overrides.get(LimitAttributes.REFUND_ON);
        if (refundOn != null && !refundOn.isEmpty()) {
            String names = refundOn.stream().map(Class::getName).collect(Collectors.joining(", "));
            checkSettled(limit, overrides.label(LimitAttributes.REFUND_ON), names);
        }
    }

    private static void checkSettled(RateLimit limit, String label, String value) {
        if (!limit.hasRate()) {
            throw new RateLimitConfigurationException(
                    label + " must not be set for the algorithm CONCURRENCY, whose permits are released when the call"
                            + " ends (was " + value + ").",
                    "Remove it, or add a second limit with a rate.");
        }
        if (limit.lease() > 0) {
            throw new RateLimitConfigurationException(
                    label + " must not be set for a limit with a lease, which charges permits before its calls (was "
                            + value + ").",
                    "Remove it, or set lease to 0 for this limit.");
        }
    }

    /** Returns those of the limit, or else of the defaults, which are for limits that can refund. */
    private List<Class<? extends Throwable>> refundOn(EffectiveLimit limit, LimitConfiguration merged) {
        RateLimit present = limit.get();
        LimitConfiguration origin =
                present.hasRate() && present.lease() == 0 && !merged.values().has(LimitAttributes.REFUND_ON)
                        ? defaults()
                        : merged;
        return origin.get(LimitAttributes.REFUND_ON, List.of());
    }

    /** Returns the key of the limit, or else of the defaults; {@code null}: all callers share a bucket. */
    private @Nullable LimitKey key(LimitConfiguration merged, ExpressionScope scope) {
        LimitConfiguration origin = merged.hasKey() ? merged : defaults();
        String resolver = origin.get(LimitAttributes.KEY_RESOLVER);
        if (resolver != null) {
            return expressions.resolver(resolver, origin.label(LimitAttributes.KEY_RESOLVER), scope);
        }
        String expression = origin.get(LimitAttributes.KEY_EXPRESSION);
        if (expression == null || LimitConfiguration.ALL_CALLERS.equals(expression)) {
            return null;
        }
        String label = origin.label(LimitAttributes.KEY_EXPRESSION);
        if (LIKE_ALL_CALLERS.matcher(expression).matches()) {
            throw new RateLimitConfigurationException(
                    label + " must be an expression or " + LimitConfiguration.ALL_CALLERS + " (was \"" + expression
                            + "\").",
                    "Did you mean " + LimitConfiguration.ALL_CALLERS + "?");
        }
        return expressions.key(expression, label, scope);
    }

    /**
     * Returns the plan of the limit, of the defaults, or else of the only resolver; {@code null}: no plans. The defaults and the only
     * resolver are for limits that have plans and a key.
     */
    private @Nullable LimitPlan plan(LimitConfiguration merged, @Nullable LimitKey key, ExpressionScope scope) {
        if (!merged.hasPlan() && (merged.plans().isEmpty() || key == null)) {
            return null;
        }
        LimitConfiguration origin = merged.hasPlan() ? merged : defaults();
        String resolver = origin.get(LimitAttributes.PLAN_RESOLVER);
        if (resolver != null && key == null) {
            throw new RateLimitConfigurationException(
                    origin.label(LimitAttributes.PLAN_RESOLVER) + " must not be set for a limit without a key (was \""
                            + resolver + "\").",
                    "Set the key of the limit, which tells callers apart.");
        }
        if (resolver != null) {
            return expressions.planResolver(resolver, origin.label(LimitAttributes.PLAN_RESOLVER), merged.limitName());
        }
        if (LimitConfiguration.NO_PLAN.equals(origin.get(LimitAttributes.PLAN_EXPRESSION))) {
            return () -> LimitConfiguration.NO_PLAN;
        }
        RateLimitExpression expression = expression(LimitAttributes.PLAN_EXPRESSION, origin, scope);
        return expression == null ? expressions.onlyPlanResolver(merged.limitName()) : expression;
    }

    private @Nullable RateLimitExpression expression(
            Attribute<String> attribute, LimitConfiguration origin, ExpressionScope scope, Class<?>... results) {
        String text = origin.get(attribute);
        return text == null ? null : expressions.parse(text, origin.label(attribute), scope, results);
    }
}
