package io.ratelimit;

import io.ratelimit.internal.limit.LimitNames;
import java.util.List;
import java.util.Map;

/**
 * Holds the properties of all limits.
 *
 * @param defaults what applies to every limit, unless its declaration or its overrides set the attribute
 * @param localShare divides limits among instances while the store fails
 * @param limits the overrides of each limit, by its name in lower case without dashes and underscores
 * @param customizers change declarations before the overrides are applied
 * @param algorithms those that the overrides can name
 */
public record RateLimitSettings(
        LimitOverrides defaults,
        LocalShare localShare,
        Map<String, LimitOverrides> limits,
        List<RateLimitCustomizer> customizers,
        AlgorithmCatalog algorithms) {

    public RateLimitSettings {
        limits = Map.copyOf(limits);
        customizers = List.copyOf(customizers);
    }

    /** Creates settings without customizers. */
    public RateLimitSettings(LimitOverrides defaults, LocalShare localShare, Map<String, LimitOverrides> limits) {
        this(defaults, localShare, limits, List.of(), AlgorithmCatalog.NONE);
    }

    /** Creates settings with these defaults only. */
    public RateLimitSettings(
            boolean dryRun, OnStoreFailure onStoreFailure, LocalShare localShare, Map<String, LimitOverrides> limits) {
        this(LimitOverrides.defaults(dryRun, onStoreFailure), localShare, limits);
    }

    /** Creates settings in which each instance applies every limit in full while the store fails. */
    public RateLimitSettings(boolean dryRun, OnStoreFailure onStoreFailure, Map<String, LimitOverrides> limits) {
        this(dryRun, onStoreFailure, LocalShare.WHOLE, limits);
    }

    /** Returns these settings with customizers. */
    public RateLimitSettings with(List<RateLimitCustomizer> customizers) {
        return new RateLimitSettings(defaults, localShare, limits, customizers, algorithms);
    }

    /**
     * Returns these settings with algorithms of the application.
     *
     * @throws RateLimitConfigurationException if an override names an algorithm that does not exist
     */
    public RateLimitSettings with(AlgorithmCatalog algorithms) {
        defaults.algorithmOf(algorithms);
        limits.values().forEach(overrides -> overrides.algorithmOf(algorithms));
        return new RateLimitSettings(defaults, localShare, limits, customizers, algorithms);
    }

    /** Returns the overrides of the limit with this name; all null if there are none. */
    public LimitOverrides overrides(String name) {
        LimitOverrides overrides = limits.get(LimitNames.canonical(name));
        return overrides != null ? overrides : LimitOverrides.none(name);
    }
}
