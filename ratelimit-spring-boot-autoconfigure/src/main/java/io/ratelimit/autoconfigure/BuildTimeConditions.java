package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.RateLimitProperties.StoreType;
import org.springframework.core.env.Environment;

/**
 * The properties that decide which beans exist. AOT processing evaluates them when the application is built, so another value
 * at start-up has no effect: methods would silently stay unlimited.
 *
 * @param enabled {@code ratelimit.enabled}
 * @param store {@code ratelimit.store}
 */
public record BuildTimeConditions(boolean enabled, String store) {

    private static final String FIX = "Build the application again with this value";

    static BuildTimeConditions of(Environment environment) {
        return new BuildTimeConditions(
                OnRateLimitsEnabled.isEnabled(environment),
                OnRedisStore.store(environment).name());
    }

    /**
     * Called by generated code before beans are created.
     *
     * @throws RateLimitConfigurationException if a property differs at start-up
     */
    public void check(Environment environment) {
        BuildTimeConditions now = of(environment);
        if (now.enabled != enabled) {
            throw changed(
                    "ratelimit.enabled must be " + enabled,
                    String.valueOf(now.enabled),
                    enabled ? ", or set ratelimit.dry-run=true." : ".");
        }
        if (enabled && !now.store.equals(store)) {
            throw changed("ratelimit.store must be " + value(store), value(now.store), ".");
        }
    }

    private static String value(String store) {
        return StoreType.valueOf(store) == StoreType.REDIS ? "redis" : "in-memory";
    }

    private static RateLimitConfigurationException changed(String rule, String now, String otherwise) {
        return new RateLimitConfigurationException(
                rule + " as when AOT processing chose the beans (was " + now + ").", FIX + otherwise);
    }
}
