package io.ratelimit.redis.connection;

import java.lang.System.Logger.Level;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.RedisCallback;

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
        String policies;
        try {
            policies = policies(redis.template().execute((RedisCallback<@Nullable Properties>)
                    connection -> connection.serverCommands().info("memory")));
        } catch (RuntimeException | LinkageError ex) {
            logger.log(Level.DEBUG, "Cannot read the eviction policy of Redis; not warning about it", ex);
            return null;
        }
        return policies.isEmpty()
                ? null
                : "Redis at " + address + " may evict buckets (maxmemory is set, and maxmemory-policy is " + policies
                        + "); an evicted bucket is full again. Set maxmemory-policy to noeviction, or use a separate Redis"
                        + " for rate limits.";
    }

    /** Returns the policies that evict something. On a cluster each name is prefixed with its node. */
    private static String policies(@Nullable Properties memory) {
        return memory == null
                ? ""
                : memory.stringPropertyNames().stream()
                        .filter(name -> name.endsWith(POLICY)
                                && !"0".equals(memory.getProperty(name.replace(POLICY, LIMIT), "0")))
                        .map(memory::getProperty)
                        .filter(policy -> !policy.equals(SAFE))
                        .distinct()
                        .sorted()
                        .collect(Collectors.joining(", "));
    }
}
