package io.ratelimit.autoconfigure.properties;

import io.ratelimit.internal.limit.LimitNames;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Binds the pointcuts of the limits, which are needed before the bean {@link RateLimitProperties} exists. */
public final class Pointcuts {

    private static final Bindable<Map<String, Limit>> LIMITS = Bindable.mapOf(String.class, Limit.class);

    private Pointcuts() {}

    /** Returns the configured pointcuts, by the limit's name. */
    public static Map<String, String> of(Environment environment) {
        Map<String, Limit> limits =
                Binder.get(environment).bind("ratelimit.limits", LIMITS).orElse(Map.of());
        Map<String, String> pointcuts = new LinkedHashMap<>();
        // All spellings of a name are bound to the same values.
        for (String name : LimitNames.distinct(limits.keySet())) {
            String pointcut = Objects.requireNonNull(limits.get(name)).pointcut();
            if (pointcut != null) {
                pointcuts.put(name, pointcut);
            }
        }
        return pointcuts;
    }

    /** Binds the pointcut alone. */
    public record Limit(@Nullable String pointcut) {}
}
