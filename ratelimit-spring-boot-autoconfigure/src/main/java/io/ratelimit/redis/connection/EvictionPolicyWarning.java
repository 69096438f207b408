package io.ratelimit.redis.connection;

import java.lang.System.Logger.Level;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Warns of a Redis that forgets buckets when it is full: a bucket that is evicted is full of permits again. */
final class EvictionPolicyWarning {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final String LIMIT = "maxmemory";

    private static final String POLICY = "maxmemory_policy";

    private static final String SAFE = "noeviction";

    private EvictionPolicyWarning() {}

    static void logIfNeeded(TemplateScriptExecutor redis) {
        String warning = warning(redis);
        if (warning != null) {
            logger.log(Level.WARNING, warning);
        }
    }

    /** Every bucket expires some day, so that policies for keys which do are not safe either. {@code null}: all is well. */
    static @Nullable String warning(TemplateScriptExecutor redis) {
        Set<String> policies = policies(redis);
        policies.remove(SAFE);
        return policies.isEmpty()
                ? null
                : "Redis has a maxmemory, and maxmemory-policy " + String.join(", ", policies)
                        + ": when it is full, it evicts buckets, and whoever's bucket is evicted starts anew with all permits."
                        + " Set maxmemory-policy to noeviction, or use a Redis of its own for rate limits.";
    }

    private static Set<String> policies(TemplateScriptExecutor redis) {
        Set<String> policies = new TreeSet<>();
        Properties memory;
        try {
            memory = redis.memory();
        } catch (RuntimeException | LinkageError ex) {
            logger.log(Level.DEBUG, "Redis does not say what it does when it is full", ex);
            return policies;
        }
        for (String name : memory.stringPropertyNames()) {
            if (name.endsWith(POLICY)) {
                String node = name.substring(0, name.length() - POLICY.length());
                if (!"0".equals(memory.getProperty(node + LIMIT, "0"))) {
                    policies.add(memory.getProperty(name));
                }
            }
        }
        return policies;
    }
}
