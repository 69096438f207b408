package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Reads the pointcuts of the limits, and nothing else: they are needed before there are properties as a bean. */
final class Pointcuts {

    private static final Bindable<Map<String, Limit>> LIMITS = Bindable.mapOf(String.class, Limit.class);

    private Pointcuts() {}

    /** Those that are set, by the limit's name. */
    static Map<String, String> of(Environment environment) {
        Map<String, Limit> limits =
                Binder.get(environment).bind("ratelimit.limits", LIMITS).orElse(Map.of());
        Map<String, String> byCanonicalName = new LinkedHashMap<>();
        Map<String, String> pointcuts = new LinkedHashMap<>();
        limits.forEach((name, limit) -> {
            // Two spellings of one name are bound to the same values.
            if (limit.pointcut() != null && byCanonicalName.put(LimitNames.canonical(name), name) == null) {
                pointcuts.put(name, limit.pointcut());
            }
        });
        return pointcuts;
    }

    /** What is of interest here about one limit. */
    record Limit(@Nullable String pointcut) {}
}
