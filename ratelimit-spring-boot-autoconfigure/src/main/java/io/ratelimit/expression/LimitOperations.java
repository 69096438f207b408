package io.ratelimit.expression;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Creates operations: merges declarations with the configuration and parses their expressions. */
public record LimitOperations(LimitCatalog catalog, RateLimitExpressionParser expressions) {

    /** Matches misspellings of {@link LimitConfiguration#ALL_CALLERS}, which are never valid expressions. */
    private static final Pattern LIKE_ALL_CALLERS = Pattern.compile("(?i)all[\\w -]*");

    /**
     * Merges a declaration with the configuration.
     *
     * @param scope the names that its expressions can use
     * @throws RateLimitConfigurationException if the merged declaration cannot work
     */
    public RateLimitOperation of(LimitDeclaration declaration, ExpressionScope scope) {
        LimitConfiguration overrides = catalog.settings().of(declaration.name());
        String permits = overrides.get(LimitAttributes.PERMITS, declaration.permits());
        if (permits.matches("-\\d+")) {
            throw new RateLimitConfigurationException(
                    overrides.label(LimitAttributes.PERMITS) + " must not be negative (was " + permits + ").",
                    "Write what a call costs. 0 is free.");
        }
        EffectiveLimit limit = declaration.limit().get();
        boolean fixed = permits.matches("\\d{1,10}");
        LimitKey key = key(declaration, overrides, scope);
        return new RateLimitOperation(
                limit,
                key,
                fixed ? Long.parseLong(permits) : 1,
                fixed ? null : expression(LimitAttributes.PERMITS, declaration.permits(), overrides, scope),
                expression(LimitAttributes.CONDITION, declaration.condition(), overrides, scope),
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
            EffectiveLimit limit, LimitDeclaration declaration, LimitConfiguration overrides, ExpressionScope scope) {
        Text text = text(LimitAttributes.PERMITS_AFTER, declaration.permitsAfter(), overrides);
        if (text == null) {
            return null;
        }
        checkSettled(limit, text.label, "\"" + text.text + "\"");
        String permits = overrides.get(LimitAttributes.PERMITS, declaration.permits());
        if (permits.matches("0+")) {
            throw new RateLimitConfigurationException(
                    overrides.label(LimitAttributes.PERMITS) + " must be at least 1 with " + text.label
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
    public static void checkSettled(RateLimit limit, LimitConfiguration overrides) {
        if (overrides.get(LimitAttributes.PERMITS_AFTER) != null) {
            checkSettled(
                    limit,
                    overrides.label(LimitAttributes.PERMITS_AFTER),
                    "\"" + overrides.get(LimitAttributes.PERMITS_AFTER) + "\"");
        }
        List<Class<? extends Throwable>> refundOn = overrides.get(LimitAttributes.REFUND_ON);
        if (refundOn != null && !refundOn.isEmpty()) {
            checkSettled(limit, overrides.label(LimitAttributes.REFUND_ON), names(refundOn));
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
            EffectiveLimit limit, LimitDeclaration declaration, LimitConfiguration overrides) {
        List<Class<? extends Throwable>> own = overrides.get(LimitAttributes.REFUND_ON, declaration.refundOn());
        if (!own.isEmpty()) {
            checkSettled(limit, overrides.label(LimitAttributes.REFUND_ON), names(own));
        }
        List<Class<? extends Throwable>> defaults =
                catalog.settings().defaults().get(LimitAttributes.REFUND_ON);
        RateLimit present = limit.get();
        return own.isEmpty()
                        && overrides.get(LimitAttributes.REFUND_ON) == null
                        && defaults != null
                        && present.hasRate()
                        && present.lease() == 0
                ? defaults
                : own;
    }

    /** Returns the key of the overrides, of the declaration, or else of the defaults; {@code null}: all callers share a bucket. */
    private @Nullable LimitKey key(LimitDeclaration declaration, LimitConfiguration overrides, ExpressionScope scope) {
        LimitConfiguration origin =
                overrides.hasKey() ? overrides : catalog.settings().defaults();
        Part part = Part.declared("key", declaration.keyResolver(), declaration.keyExpression());
        if (overrides.hasKey() || part.isEmpty()) {
            part = Part.configured(LimitAttributes.KEY_RESOLVER, LimitAttributes.KEY_EXPRESSION, origin);
        }
        if (!part.resolver.text.isEmpty()) {
            return expressions.resolver(part.resolver.text, part.resolver.label, scope);
        }
        String expression = part.expression.text;
        if ((part.isEmpty() && !origin.hasKey()) || LimitConfiguration.ALL_CALLERS.equals(expression)) {
            return null;
        }
        if (LIKE_ALL_CALLERS.matcher(expression).matches()) {
            throw new RateLimitConfigurationException(
                    part.expression.label + " must be an expression or " + LimitConfiguration.ALL_CALLERS + " (was \""
                            + expression + "\").",
                    "Did you mean " + LimitConfiguration.ALL_CALLERS + "?");
        }
        return expressions.key(expression, part.expression.label, scope);
    }

    /**
     * Returns the plan of the overrides, of the declaration, of the defaults, or else of the only resolver; {@code null}: no plans.
     * The defaults and the only resolver are for limits that have plans and a key.
     */
    private @Nullable LimitPlan plan(
            LimitDeclaration declaration, LimitConfiguration overrides, @Nullable LimitKey key, ExpressionScope scope) {
        LimitConfiguration origin =
                overrides.hasPlan() ? overrides : catalog.settings().defaults();
        Part part = Part.declared("plan", declaration.planResolver(), declaration.planExpression());
        if (overrides.hasPlan() || part.isEmpty()) {
            if (!overrides.hasPlan() && (overrides.plans().isEmpty() || key == null)) {
                return null;
            }
            if (!origin.hasPlan()) {
                return expressions.onlyPlanResolver(declaration.name());
            }
            part = Part.configured(LimitAttributes.PLAN_RESOLVER, LimitAttributes.PLAN_EXPRESSION, origin);
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
        if (LimitConfiguration.NO_PLAN.equals(part.expression.text)) {
            return NoPlan.NONE;
        }
        return part.isEmpty()
                ? null
                : new PlanExpression(expressions.parse(part.expression.text, part.expression.label, scope));
    }

    private @Nullable RateLimitExpression expression(
            Attribute<String> attribute, String declared, LimitConfiguration overrides, ExpressionScope scope) {
        Text text = text(attribute, declared, overrides);
        return text == null ? null : expressions.parse(text.text, text.label, scope);
    }

    /** Returns the text that applies: of the overrides, of the declaration, or else of the defaults. */
    private @Nullable Text text(Attribute<String> attribute, String declared, LimitConfiguration overrides) {
        AttributeValues code = AttributeValues.NONE.with(attribute, declared.isEmpty() ? null : declared);
        AttributeValues merged = code.overriddenBy(overrides.values())
                .inherit(attribute, catalog.settings().defaults().values());
        String text = merged.get(attribute);
        return text == null ? null : new Text(text, merged.label(attribute));
    }

    /** @param label the attribute or the property */
    private record Text(String text, String label) {}

    /** A bean or an expression, by which calls get a key or a plan. */
    private record Part(Text resolver, Text expression) {

        static Part declared(String what, String resolver, String expression) {
            return new Part(new Text(resolver, what + "Resolver"), new Text(expression, what + "Expression"));
        }

        static Part configured(Attribute<String> resolver, Attribute<String> expression, LimitConfiguration origin) {
            return new Part(text(resolver, origin), text(expression, origin));
        }

        private static Text text(Attribute<String> attribute, LimitConfiguration origin) {
            String text = origin.get(attribute);
            return new Text(text == null ? "" : text, origin.label(attribute));
        }

        boolean isEmpty() {
            return resolver.text.isEmpty() && expression.text.isEmpty();
        }
    }
}
