package io.ratelimit;

import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the configuration sets for one limit below {@code ratelimit.limits}, or for all limits below
 * {@code ratelimit.defaults}. The properties of a limit win over its declaration, attribute by attribute; the defaults apply to what
 * neither sets.
 *
 * @param property the prefix of these properties, such as {@code ratelimit.limits.quotes}
 * @param ownAlgorithm the name of an algorithm of the application, which is to be found
 * @param plans by their names in lower case without dashes and underscores; the defaults of all limits have none
 */
@Internal
public record LimitConfiguration(
        String property, AttributeValues values, @Nullable String ownAlgorithm, Map<String, RateLimitPlan> plans) {

    /** A key expression that selects one bucket for all callers. Needed because a property cannot be empty. */
    public static final String ALL_CALLERS = "all-callers";

    /** A plan expression that gives no caller a plan. */
    public static final String NO_PLAN = "none";

    /** The prefix of the properties that apply to all limits, as a value of {@link #property}. */
    public static final String DEFAULTS = "ratelimit.defaults";

    private static final String PREFIX = "ratelimit.limits.";

    public LimitConfiguration {
        plans = Map.copyOf(plans);
        checkAlone(values, LimitAttributes.KEY_RESOLVER, LimitAttributes.KEY_EXPRESSION);
        checkAlone(values, LimitAttributes.PLAN_RESOLVER, LimitAttributes.PLAN_EXPRESSION);
        if (property.equals(DEFAULTS)) {
            // No limit may need them, so that nothing else would check them.
            LimitValidation.checkDefaults(values);
        }
    }

    private static void checkAlone(AttributeValues values, Attribute<String> resolver, Attribute<?> expression) {
        if (values.has(resolver) && values.has(expression)) {
            throw new RateLimitConfigurationException(
                    values.label(resolver) + " must not be set beside "
                            + (values.property(resolver) == null ? expression.name() : expression.property())
                            + " (was \"" + values.get(resolver) + "\").",
                    "Remove one of them.");
        }
    }

    /** Creates the configuration of a limit that sets nothing. */
    public static LimitConfiguration of(String limitName) {
        return new LimitConfiguration(PREFIX + limitName, AttributeValues.NONE, null, Map.of());
    }

    /** Returns this configuration with another value. */
    public <T> LimitConfiguration with(Attribute<T> attribute, @Nullable T value) {
        return new LimitConfiguration(property, values.with(attribute, value, property), ownAlgorithm, plans);
    }

    /** Returns this configuration with other values. */
    public LimitConfiguration with(AttributeValues others) {
        return new LimitConfiguration(property, others, ownAlgorithm, plans);
    }

    /** Returns this configuration with plans, by their names in lower case without dashes and underscores. */
    public LimitConfiguration with(Map<String, RateLimitPlan> all) {
        return new LimitConfiguration(property, values, ownAlgorithm, all);
    }

    /** Returns the value of an attribute; {@code null}: not set. */
    public <T> @Nullable T get(Attribute<T> attribute) {
        return values.get(attribute);
    }

    /** Returns the value of an attribute, or another one if it is not set. */
    public <T> T get(Attribute<T> attribute, T otherwise) {
        T set = values.get(attribute);
        return set == null ? otherwise : set;
    }

    /** Returns the name of an attribute as its author wrote it: the property, if it is set, or else the attribute. */
    public String label(Attribute<?> attribute) {
        return values.label(attribute);
    }

    public String limitName() {
        return property.substring(PREFIX.length());
    }

    /** Returns whether the properties declare a limit that no code declares: by a rate, or as a concurrency limit. */
    public boolean declaresLimit() {
        return values.has(LimitAttributes.RATE) || !LimitAttributes.hasRate(values);
    }

    /** Returns whether the key is set, by an expression or a resolver. */
    public boolean hasKey() {
        return values.has(LimitAttributes.KEY_EXPRESSION) || values.has(LimitAttributes.KEY_RESOLVER);
    }

    /** Describes what determines the plan; {@code null}: nothing. */
    public @Nullable String planText() {
        String resolver = get(LimitAttributes.PLAN_RESOLVER);
        return resolver != null ? "resolver " + resolver : get(LimitAttributes.PLAN_EXPRESSION);
    }

    /** Returns whether the plan is set, by an expression or a resolver. */
    public boolean hasPlan() {
        return values.has(LimitAttributes.PLAN_EXPRESSION) || values.has(LimitAttributes.PLAN_RESOLVER);
    }
}
