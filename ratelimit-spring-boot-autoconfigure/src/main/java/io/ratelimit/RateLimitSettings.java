package io.ratelimit;

import java.util.List;
import java.util.Map;

/**
 * Holds the properties of all limits.
 *
 * @param defaults what applies to every limit, unless its declaration or its overrides set the attribute
 * @param localShare divides limits among instances while the store fails
 * @param limits the overrides of each limit, by its name in lower case without dashes and underscores
 * @param customizers change declarations before the overrides are applied
 */
public record RateLimitSettings(
        LimitOverrides defaults,
        LocalShare localShare,
        Map<String, LimitOverrides> limits,
        List<RateLimitCustomizer> customizers) {

    public RateLimitSettings {
        limits = Map.copyOf(limits);
        customizers = List.copyOf(customizers);
    }

    /** Creates settings without customizers. */
    public RateLimitSettings(LimitOverrides defaults, LocalShare localShare, Map<String, LimitOverrides> limits) {
        this(defaults, localShare, limits, List.of());
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
        return new RateLimitSettings(defaults, localShare, limits, customizers);
    }

    /** Returns the overrides of the limit with this name; all null if there are none. */
    public LimitOverrides overrides(String name) {
        LimitOverrides overrides = limits.get(LimitNames.canonical(name));
        return overrides != null ? overrides : LimitOverrides.none(name);
    }
}
