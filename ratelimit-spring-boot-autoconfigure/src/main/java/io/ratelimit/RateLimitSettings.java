package io.ratelimit;

import java.util.Map;

/**
 * What the configuration says about all limits, and about each.
 *
 * @param localShare how limits are divided while the store fails
 * @param limits by {@linkplain LimitNames#canonical canonical name}
 */
public record RateLimitSettings(
        boolean dryRun, OnStoreFailure onStoreFailure, LocalShare localShare, Map<String, LimitOverrides> limits) {

    public RateLimitSettings {
        limits = Map.copyOf(limits);
    }

    /** Of limits that are not divided. */
    public RateLimitSettings(boolean dryRun, OnStoreFailure onStoreFailure, Map<String, LimitOverrides> limits) {
        this(dryRun, onStoreFailure, LocalShare.WHOLE, limits);
    }

    /** What is said about the limit of this name; nothing, if it is not mentioned. */
    public LimitOverrides overrides(String name) {
        LimitOverrides overrides = limits.get(LimitNames.canonical(name));
        return overrides != null ? overrides : LimitOverrides.none(name);
    }
}
