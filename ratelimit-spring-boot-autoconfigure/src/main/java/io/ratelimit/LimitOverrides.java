package io.ratelimit;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Holds the properties of one limit. They override its declaration, attribute by attribute; {@code null} leaves an attribute
 * as declared.
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
        @Nullable String permits,
        @Nullable String condition,
        @Nullable Refill refill,
        @Nullable Duration maxWait,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun,
        @Nullable OnStoreFailure onStoreFailure,
        @Nullable List<Class<? extends Throwable>> refundOn,
        @Nullable String pointcut,
        @Nullable Long lease) {

    /** A key expression that selects one bucket for all callers. Needed because a property cannot be empty. */
    public static final String ALL_CALLERS = "all-callers";

    private static final String PREFIX = "ratelimit.limits.";

    public String limitName() {
        return property.substring(PREFIX.length());
    }

    /** Returns the name of an attribute as its author wrote it: the property, if there is one, or else the attribute. */
    public String label(String attribute, @Nullable Object override) {
        return override == null ? attribute : property + "." + LimitNames.kebabCase(attribute);
    }

    static LimitOverrides none(String name) {
        return new LimitOverrides(
                PREFIX + name, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }
}
