package io.ratelimit.redis.connection;

import java.lang.System.Logger.Level;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Warns if Redis may evict buckets when its memory is full: an evicted bucket is a full bucket. */
final class EvictionPolicyWarning {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final String LIMIT = "maxmemory";

    private static final String POLICY = "maxmemory_policy";

    private static final String SAFE = "noeviction";

    private EvictionPolicyWarning() {}

    /** @param address of the Redis */
    static void logIfNeeded(TemplateScriptExecutor redis, String address) {
        String warning = warning(redis, address);
        if (warning != null) {
            logger.log(Level.WARNING, warning);
        }
    }

    /**
     * Returns the warning, or {@code null} if no bucket can be evicted. Policies for keys with a TTL evict buckets too, because
     * every bucket has one.
     */
    static @Nullable String warning(TemplateScriptExecutor redis, String address) {
        Set<String> policies = policies(redis);
        policies.remove(SAFE);
        return policies.isEmpty()
                ? null
                : "Redis at " + address + " may evict buckets (maxmemory is set, and maxmemory-policy is "
                        + String.join(", ", policies)
                        + "); an evicted bucket is full again. Set maxmemory-policy to noeviction, or use a separate Redis"
                        + " for rate limits.";
    }

    private static Set<String> policies(TemplateScriptExecutor redis) {
        Set<String> policies = new TreeSet<>();
        Properties memory;
        try {
            memory = redis.memory();
        } catch (RuntimeException | LinkageError ex) {
            logger.log(Level.DEBUG, "Cannot read the eviction policy of Redis; not warning about it", ex);
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
