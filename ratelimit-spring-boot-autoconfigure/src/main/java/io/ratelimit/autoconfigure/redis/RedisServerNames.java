package io.ratelimit.autoconfigure.redis;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.lang.System.Logger.Level;
import java.util.Map;

/**
 * Checks that limits name Redis servers that are configured, whatever the store: a profile with the in-memory store has the same
 * properties.
 *
 * @param names as they are written, by the names in lower case without dashes and underscores
 */
public record RedisServerNames(Map<String, String> names) {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** Checks the limits of a context, now and whenever their configuration changes. */
    public void check(LimitCatalog catalog) {
        catalog.addListener(limit -> limit.addCheck(catalog, this::check));
    }

    private void check(RateLimit limit) {
        String name = limit.redis();
        if (name != null && !names.containsKey(LimitNames.canonical(name))) {
            Origin origin = limit.definition().origins().get("redis");
            throw new RateLimitConfigurationException(
                    (origin == null || origin.place().isEmpty()
                                    ? "redis of limit '" + limit.name() + "'"
                                    : origin.place())
                            + " must name a Redis server of ratelimit.redis (was \"" + name + "\").",
                    LimitNames.didYouMean(name, names.values(), nearest -> nearest) + fix(name));
        }
    }

    private String fix(String name) {
        String set = "Set " + RedisServerProperties.property(name) + ".url";
        return names.isEmpty()
                ? set + ", or remove redis."
                : "Known servers: " + String.join(", ", names.values()) + ". " + set + " for another one.";
    }

    /** Logs the servers that no limit names. They are connected to nevertheless. */
    public void logUnused(LimitCatalog catalog) {
        names.forEach((id, name) -> {
            String property = RedisServerProperties.property(name);
            boolean used = catalog.limits().stream()
                    .map(RateLimit::redis)
                    .anyMatch(named ->
                            named != null && LimitNames.canonical(named).equals(id));
            if (used) {
                catalog.setApplied(property);
            } else if (!catalog.mayBeAppliedElsewhere(property)) {
                logger.log(
                        Level.WARNING,
                        "No limit is counted in Redis server '" + name + "' (" + property + " is set); set redis: "
                                + name + " on a limit, or remove the server");
            }
        });
    }
}
