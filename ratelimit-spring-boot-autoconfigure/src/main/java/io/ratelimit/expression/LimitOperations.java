package io.ratelimit.expression;

import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Creates operations: merges declarations with the configuration and parses their expressions. */
public record LimitOperations(LimitCatalog catalog, RateLimitExpressionParser expressions) {

    /** Matches misspellings of {@link LimitOverrides#ALL_CALLERS}, which are never valid expressions. */
    private static final Pattern LIKE_ALL_CALLERS = Pattern.compile("(?i)all[\\w -]*");

    /**
     * Merges a declaration with the configuration.
     *
     * @param scope the names that its expressions can use
     * @throws RateLimitConfigurationException if the merged declaration cannot work
     */
    public RateLimitOperation of(LimitDeclaration declaration, ExpressionScope scope) {
        LimitOverrides overrides = catalog.settings().overrides(declaration.name());
        String permits = overrides.permits() != null ? overrides.permits() : declaration.permits();
        if (permits.matches("-\\d+")) {
            throw new RateLimitConfigurationException(
                    overrides.label("permits", overrides.permits()) + " must not be negative (was " + permits + ").",
                    "Write what a call costs. 0 is free.");
        }
        EffectiveLimit limit = declaration.limit().get();
        boolean fixed = permits.matches("\\d{1,10}");
        LimitKey key = key(declaration, overrides, scope);
        return new RateLimitOperation(
                limit,
                key,
                fixed ? Long.parseLong(permits) : 1,
                fixed ? null : expression("permits", LimitOverrides::permits, declaration.permits(), overrides, scope),
                expression("condition", LimitOverrides::condition, declaration.condition(), overrides, scope),
                refundOn(limit, declaration, overrides),
                actualCost(limit, declaration, overrides, scope),
                plan(declaration, overrides, key, scope));
    }

    /** Creates an operation for a limit that is referred to by its name only. */
    public RateLimitOperation ofConfiguration(String name, ExpressionScope scope) {
        return of(
                new LimitDeclaration(name, () -> catalog.configured(name), "", "", "1", "", "", List.of(), "", ""),
                scope);
    }

    private @Nullable ActualCost actualCost(
            EffectiveLimit limit, LimitDeclaration declaration, LimitOverrides overrides, ExpressionScope scope) {
        Text text = text("permitsAfter", LimitOverrides::permitsAfter, declaration.permitsAfter(), overrides);
        if (text == null) {
            return null;
        }
        checkSettled(limit, text.label, "\"" + text.text + "\"");
        String permits = overrides.permits() != null ? overrides.permits() : declaration.permits();
        if (permits.matches("0+")) {
            throw new RateLimitConfigurationException(
                    overrides.label("permits", overrides.permits()) + " must be at least 1 with " + text.label
                            + ", because a free call is never rejected (was " + permits + ").",
                    "Estimate what a call costs at least. After the call, the difference is refunded or charged.");
        }
        return expressions.actualCost(text.text, text.label, scope);
    }

    /** Checks the limit as it is, and as it may be changed later. */
    private static void checkSettled(EffectiveLimit limit, String label, String value) {
        checkSettled(limit.get(), label, value);
        limit.addCheck(candidate -> checkSettled(candidate, label, value));
    }

    /**
     * Checks the properties of a limit that change what its calls have cost.
     *
     * @throws RateLimitConfigurationException if the limit has no rate, or a lease
     */
    public static void checkSettled(RateLimit limit, LimitOverrides overrides) {
        if (overrides.permitsAfter() != null) {
            checkSettled(
                    limit,
                    overrides.label("permitsAfter", overrides.permitsAfter()),
                    "\"" + overrides.permitsAfter() + "\"");
        }
        List<Class<? extends Throwable>> refundOn = overrides.refundOn();
        if (refundOn != null && !refundOn.isEmpty()) {
            checkSettled(limit, overrides.label("refundOn", refundOn), names(refundOn));
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

    private static String names(List<Class<? extends Throwable>> types) {
        return types.stream().map(Class::getName).collect(Collectors.joining(", "));
    }

    /** Returns those of the overrides, of the declaration, or else of the defaults, which are for limits that can refund. */
    private List<Class<? extends Throwable>> refundOn(
            EffectiveLimit limit, LimitDeclaration declaration, LimitOverrides overrides) {
        List<Class<? extends Throwable>> own =
                overrides.refundOn() != null ? overrides.refundOn() : declaration.refundOn();
        if (!own.isEmpty()) {
            checkSettled(limit, overrides.label("refundOn", overrides.refundOn()), names(own));
        }
        List<Class<? extends Throwable>> defaults =
                catalog.settings().defaults().refundOn();
        RateLimit present = limit.get();
        return own.isEmpty()
                        && overrides.refundOn() == null
                        && defaults != null
                        && present.hasRate()
                        && present.lease() == 0
                ? defaults
                : own;
    }

    /** Returns the key of the overrides, of the declaration, or else of the defaults; {@code null}: all callers share a bucket. */
    private @Nullable LimitKey key(LimitDeclaration declaration, LimitOverrides overrides, ExpressionScope scope) {
        LimitOverrides origin =
                overrides.hasKey() ? overrides : catalog.settings().defaults();
        Part part = Part.declared("key", declaration.keyResolver(), declaration.keyExpression());
        if (overrides.hasKey() || part.isEmpty()) {
            part = Part.configured("key", origin.keyResolver(), origin.keyExpression(), origin);
        }
        if (!part.resolver.text.isEmpty()) {
            return expressions.resolver(part.resolver.text, part.resolver.label, scope);
        }
        String expression = part.expression.text;
        if ((part.isEmpty() && !origin.hasKey()) || LimitOverrides.ALL_CALLERS.equals(expression)) {
            return null;
        }
        if (LIKE_ALL_CALLERS.matcher(expression).matches()) {
            throw new RateLimitConfigurationException(
                    part.expression.label + " must be an expression or " + LimitOverrides.ALL_CALLERS + " (was \""
                            + expression + "\").",
                    "Did you mean " + LimitOverrides.ALL_CALLERS + "?");
        }
        return expressions.parse(expression, part.expression.label, scope);
    }

    /**
     * Returns the plan of the overrides, of the declaration, of the defaults, or else of the only resolver; {@code null}: no plans.
     * The defaults and the only resolver are for limits that have plans and a key.
     */
    private @Nullable LimitPlan plan(
            LimitDeclaration declaration, LimitOverrides overrides, @Nullable LimitKey key, ExpressionScope scope) {
        LimitOverrides origin =
                overrides.hasPlan() ? overrides : catalog.settings().defaults();
        Part part = Part.declared("plan", declaration.planResolver(), declaration.planExpression());
        if (overrides.hasPlan() || part.isEmpty()) {
            if (!overrides.hasPlan() && (overrides.plans().isEmpty() || key == null)) {
                return null;
            }
            if (!origin.hasPlan()) {
                return expressions.onlyPlanResolver(declaration.name());
            }
            part = Part.configured("plan", origin.planResolver(), origin.planExpression(), origin);
        }
        if (!part.resolver.text.isEmpty()) {
            if (key == null) {
                throw new RateLimitConfigurationException(
                        part.resolver.label + " must not be set for a limit without a key (was \"" + part.resolver.text
                                + "\").",
                        "Set the key of the limit, which tells callers apart.");
            }
            return expressions.planResolver(part.resolver.text, part.resolver.label, declaration.name());
        }
        if (LimitOverrides.NO_PLAN.equals(part.expression.text)) {
            return NoPlan.NONE;
        }
        return part.isEmpty()
                ? null
                : new PlanExpression(expressions.parse(part.expression.text, part.expression.label, scope));
    }

    private @Nullable RateLimitExpression expression(
            String attribute,
            Function<LimitOverrides, @Nullable String> property,
            String declared,
            LimitOverrides overrides,
            ExpressionScope scope) {
        Text text = text(attribute, property, declared, overrides);
        return text == null ? null : expressions.parse(text.text, text.label, scope);
    }

    /** Returns the text that applies: of the overrides, of the declaration, or else of the defaults. */
    private @Nullable Text text(
            String attribute,
            Function<LimitOverrides, @Nullable String> property,
            String declared,
            LimitOverrides overrides) {
        if (property.apply(overrides) == null && !declared.isEmpty()) {
            return new Text(declared, attribute);
        }
        LimitOverrides origin = property.apply(overrides) != null
                ? overrides
                : catalog.settings().defaults();
        String text = property.apply(origin);
        return text == null ? null : new Text(text, origin.label(attribute, text));
    }

    /** @param label the attribute or the property */
    private record Text(String text, String label) {}

    /** A bean or an expression, by which calls get a key or a plan. */
    private record Part(Text resolver, Text expression) {

        static Part declared(String what, String resolver, String expression) {
            return new Part(new Text(resolver, what + "Resolver"), new Text(expression, what + "Expression"));
        }

        static Part configured(
                String what, @Nullable String resolver, @Nullable String expression, LimitOverrides origin) {
            return new Part(text(resolver, what + "Resolver", origin), text(expression, what + "Expression", origin));
        }

        private static Text text(@Nullable String text, String attribute, LimitOverrides origin) {
            return new Text(text == null ? "" : text, origin.label(attribute, text));
        }

        boolean isEmpty() {
            return resolver.text.isEmpty() && expression.text.isEmpty();
        }
    }
}
