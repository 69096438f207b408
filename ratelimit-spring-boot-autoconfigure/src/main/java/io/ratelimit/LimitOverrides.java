package io.ratelimit;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Holds the properties of one limit, or the defaults of all limits. Those of a limit override its declaration, attribute by
 * attribute; the defaults apply to what neither sets. {@code null}: not set.
 *
 * @param property the prefix of these properties, such as {@code ratelimit.limits.quotes}
 * @param pointcut selects methods that the limit applies to in addition to those that declare it
 */
public record LimitOverrides(
        String property,
        @Nullable Algorithm algorithm,
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable String keyExpression,
        @Nullable String keyResolver,
        @Nullable String permits,
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
        @Nullable ZoneId zone) {

    /** A key expression that selects one bucket for all callers. Needed because a property cannot be empty. */
    public static final String ALL_CALLERS = "all-callers";

    /** The prefix of the properties that apply to all limits, as a value of {@link #property}. */
    public static final String DEFAULTS = "ratelimit.defaults";

    private static final String PREFIX = "ratelimit.limits.";

    public LimitOverrides {
        blockFor = blockFor == null ? null : List.copyOf(blockFor);
        if (keyExpression != null && keyResolver != null) {
            throw new RateLimitConfigurationException(
                    property + ".key-resolver must not be set beside key-expression (was \"" + keyResolver + "\").",
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

    /** Returns the name of an attribute as its author wrote it: the property, if there is one, or else the attribute. */
    public String label(String attribute, @Nullable Object override) {
        return override == null ? attribute : property + "." + LimitNames.kebabCase(attribute);
    }

    /** Returns whether the key is set, by an expression or a resolver. */
    public boolean hasKey() {
        return keyExpression != null || keyResolver != null;
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
                dryRun,
                onStoreFailure,
                null,
                null,
                null,
                null,
                null,
                null);
    }
}
