package io.ratelimit;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds the properties of one limit, or the defaults of all limits. Those of a limit override its declaration, attribute by
 * attribute; the defaults apply to what neither sets. {@code null}: not set.
 *
 * @param property the prefix of these properties, such as {@code ratelimit.limits.quotes}
 * @param pointcut selects methods that the limit applies to in addition to those that declare it
 * @param plans by their names in lower case without dashes and underscores; the defaults of all limits have none
 */
public record LimitOverrides(
        String property,
        @Nullable Algorithm algorithm,
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable String keyExpression,
        @Nullable String keyResolver,
        @Nullable String permits,
        @Nullable String permitsAfter,
        @Nullable String condition,
        @Nullable Refill refill,
        @Nullable Duration maxWait,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun,
        @Nullable OnStoreFailure onStoreFailure,
        @Nullable List<Class<? extends Throwable>> refundOn,
        @Nullable String pointcut,
        @Nullable Long lease,
        @Nullable List<Duration> blockFor,
        @Nullable Scope scope,
        @Nullable ZoneId zone,
        @Nullable String planExpression,
        @Nullable String planResolver,
        Map<String, RateLimitPlan> plans,
        @Nullable Duration hold) {

    /** A key expression that selects one bucket for all callers. Needed because a property cannot be empty. */
    public static final String ALL_CALLERS = "all-callers";

    /** The prefix of the properties that apply to all limits, as a value of {@link #property}. */
    public static final String DEFAULTS = "ratelimit.defaults";

    private static final String PREFIX = "ratelimit.limits.";

    public LimitOverrides {
        blockFor = blockFor == null ? null : List.copyOf(blockFor);
        plans = Map.copyOf(plans);
        if (keyExpression != null && keyResolver != null) {
            throw new RateLimitConfigurationException(
                    property + ".key-resolver must not be set beside key-expression (was \"" + keyResolver + "\").",
                    "Remove one of them.");
        }
        if (planExpression != null && planResolver != null) {
            throw new RateLimitConfigurationException(
                    property + ".plan-resolver must not be set beside plan-expression (was \"" + planResolver + "\").",
                    "Remove one of them.");
        }
        if (property.equals(DEFAULTS) && rate != null) {
            // No limit may need it, so that nothing else would parse it.
            LimitValidation.parse(DEFAULTS + ".rate", rate);
        }
    }

    public String limitName() {
        return property.substring(PREFIX.length());
    }

    /** Returns whether the properties declare a limit that no code declares: by a rate, or as a concurrency limit. */
    public boolean declaresLimit() {
        return rate != null || algorithm == Algorithm.CONCURRENCY;
    }

    /** Returns the name of an attribute as its author wrote it: the property, if there is one, or else the attribute. */
    public String label(String attribute, @Nullable Object override) {
        return override == null ? attribute : property + "." + LimitNames.kebabCase(attribute);
    }

    /** Returns whether the key is set, by an expression or a resolver. */
    public boolean hasKey() {
        return keyExpression != null || keyResolver != null;
    }

    /** Returns whether the plan is set, by an expression or a resolver. */
    public boolean hasPlan() {
        return planExpression != null || planResolver != null;
    }

    /** Describes what determines the plan; {@code null}: nothing. */
    public @Nullable String planText() {
        return planResolver != null ? "resolver " + planResolver : planExpression;
    }

    /** Returns the properties of a plan, known by their prefix alone. */
    LimitOverrides ofPlan(RateLimitPlan plan) {
        return unset(property + ".plans." + plan.name(), null, null);
    }

    /** Describes the key for the log; without one, all callers share a bucket. */
    public String keyText() {
        return keyResolver != null ? "resolver " + keyResolver : keyExpression != null ? keyExpression : ALL_CALLERS;
    }

    static LimitOverrides defaults(boolean dryRun, OnStoreFailure onStoreFailure) {
        return unset(DEFAULTS, dryRun, onStoreFailure);
    }

    static LimitOverrides none(String name) {
        return unset(PREFIX + name, null, null);
    }

    private static LimitOverrides unset(
            String property, @Nullable Boolean dryRun, @Nullable OnStoreFailure onStoreFailure) {
        return new LimitOverrides(
                property,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                dryRun,
                onStoreFailure,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                Map.of(),
                null);
    }
}
