package io.ratelimit;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the configuration says about one limit. Wins over its declaration, attribute by attribute; {@code null} leaves an
 * attribute as declared.
 *
 * @param property where it stands, {@code ratelimit.limits.quotes}, for error messages
 * @param pointcut what it limits beside what declares it
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

    /** A key expression: one bucket for all callers. In the configuration, empty is no value. */
    public static final String ALL_CALLERS = "all-callers";

    private static final String PREFIX = "ratelimit.limits.";

    public String limitName() {
        return property.substring(PREFIX.length());
    }

    static LimitOverrides none(String name) {
        return new LimitOverrides(
                PREFIX + name, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }
}
