package io.ratelimit;

import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.internal.limit.LimitNames;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of one limit, and the properties that they were read from. Merges declaration, properties, plan and override,
 * attribute by attribute. {@code null}: not set.
 */
final class LimitAttributes {

    /** The name of the Redis of {@code ratelimit.redis} itself. */
    private static final String DEFAULT_REDIS = "default";

    /** The properties that attributes were read from. */
    private final Map<String, LimitOverrides> origins = new HashMap<>();

    @Nullable
    LimitAlgorithm algorithm;

    @Nullable
    Refill refill;

    @Nullable
    Boolean enabled;

    @Nullable
    Boolean dryRun;

    @Nullable
    OnStoreFailure onStoreFailure;

    @Nullable
    Long capacity;

    @Nullable
    String rate;

    @Nullable
    Duration maxWait;

    @Nullable
    List<Duration> blockFor;

    @Nullable
    Long lease;

    @Nullable
    Scope scope;

    @Nullable
    ZoneId zone;

    @Nullable
    Duration hold;

    @Nullable
    String redis;

    LimitAttributes() {}

    /** Copies the attributes, as if all of them were declared. */
    LimitAttributes(LimitAttributes source) {
        algorithm = source.algorithm;
        refill = source.refill;
        capacity = source.capacity;
        rate = source.rate;
        maxWait = source.maxWait;
        blockFor = source.blockFor;
        lease = source.lease;
        scope = source.scope;
        zone = source.zone;
        hold = source.hold;
        redis = source.redis;
        enabled = source.enabled;
        dryRun = source.dryRun;
        onStoreFailure = source.onStoreFailure;
    }

    /** Returns a copy that knows the properties, too. */
    LimitAttributes copy() {
        LimitAttributes copy = new LimitAttributes(this);
        copy.origins.putAll(origins);
        return copy;
    }

    /** Applies the properties of the limit, which win over the attributes, and the defaults of all limits, over which they win. */
    void configure(LimitOverrides properties, LimitOverrides defaults, AlgorithmCatalog algorithms) {
        algorithm = resolve(
                "algorithm",
                properties.algorithmOf(algorithms),
                algorithm,
                defaults.algorithmOf(algorithms),
                properties,
                defaults);
        refill = resolve("refill", properties.refill(), refill, defaults.refill(), properties, defaults);
        capacity = resolve("capacity", properties.capacity(), capacity, defaults.capacity(), properties, defaults);
        rate = resolve("rate", properties.rate(), rate, hasRate() ? defaults.rate() : null, properties, defaults);
        maxWait = resolve("maxWait", properties.maxWait(), maxWait, defaults.maxWait(), properties, defaults);
        blockFor = resolve("blockFor", properties.blockFor(), blockFor, defaults.blockFor(), properties, defaults);
        lease = resolve("lease", properties.lease(), lease, defaults.lease(), properties, defaults);
        scope = resolve("scope", properties.scope(), scope, defaults.scope(), properties, defaults);
        zone = resolve("zone", properties.zone(), zone, defaults.zone(), properties, defaults);
        hold = resolve("hold", properties.hold(), hold, hasRate() ? null : defaults.hold(), properties, defaults);
        String byDefault = scope == Scope.INSTANCE ? null : defaults.redis();
        redis = resolve("redis", properties.redis(), redis, byDefault, properties, defaults);
        enabled = resolve("enabled", properties.enabled(), enabled, defaults.enabled(), properties, defaults);
        dryRun = resolve("dryRun", properties.dryRun(), dryRun, defaults.dryRun(), properties, defaults);
        onStoreFailure = resolve(
                "onStoreFailure",
                properties.onStoreFailure(),
                onStoreFailure,
                defaults.onStoreFailure(),
                properties,
                defaults);
    }

    private <T> @Nullable T resolve(
            String attribute,
            @Nullable T property,
            @Nullable T declared,
            @Nullable T byDefault,
            LimitOverrides properties,
            LimitOverrides defaults) {
        if (property != null) {
            origins.put(attribute, properties);
            return property;
        }
        if (declared != null || byDefault == null) {
            return declared;
        }
        origins.put(attribute, defaults);
        return byDefault;
    }

    /** Applies an override, which wins over the attributes. */
    void override(RateLimitOverride override) {
        capacity = overridden("capacity", override.capacity(), capacity);
        rate = overridden("rate", override.rate(), rate);
        maxWait = overridden("maxWait", override.maxWait(), maxWait);
        blockFor = overridden("blockFor", override.blockFor(), blockFor);
        enabled = overridden("enabled", override.enabled(), enabled);
        dryRun = overridden("dryRun", override.dryRun(), dryRun);
        onStoreFailure = overridden("onStoreFailure", override.onStoreFailure(), onStoreFailure);
    }

    /**
     * Applies the numbers of a plan, which win over the attributes.
     *
     * @param origin of the numbers; {@code null}: the application's code
     */
    void plan(RateLimitPlan numbers, @Nullable LimitOverrides origin) {
        capacity = planned("capacity", numbers.capacity(), capacity, origin);
        rate = planned("rate", numbers.rate(), rate, origin);
        maxWait = planned("maxWait", numbers.maxWait(), maxWait, origin);
        blockFor = planned("blockFor", numbers.blockFor(), blockFor, origin);
        enabled = planned("enabled", numbers.enabled(), enabled, origin);
        dryRun = planned("dryRun", numbers.dryRun(), dryRun, origin);
    }

    private <T> @Nullable T planned(
            String attribute, @Nullable T number, @Nullable T present, @Nullable LimitOverrides origin) {
        T result = overridden(attribute, number, present);
        if (number != null && origin != null) {
            origins.put(attribute, origin);
        }
        return result;
    }

    private <T> @Nullable T overridden(String attribute, @Nullable T override, @Nullable T present) {
        if (override == null) {
            return present;
        }
        origins.remove(attribute);
        return override;
    }

    /** Returns where each attribute comes from, by name. */
    Map<String, Origin> origins() {
        Map<String, Origin> all = new HashMap<>();
        all.put("algorithm", origin("algorithm", algorithm));
        all.put("refill", origin("refill", refill));
        all.put("rate", origin("rate", rate));
        all.put("capacity", capacity == null ? origin("rate", rate) : origin("capacity", capacity));
        all.put("maxWait", origin("maxWait", maxWait));
        all.put("blockFor", origin("blockFor", blockFor));
        all.put("lease", origin("lease", lease));
        all.put("scope", origin("scope", scope));
        all.put("zone", origin("zone", zone));
        all.put("hold", origin("hold", hold));
        all.put("redis", origin("redis", redis));
        all.put("enabled", origin("enabled", enabled));
        all.put("dryRun", origin("dryRun", dryRun));
        all.put("onStoreFailure", origin("onStoreFailure", onStoreFailure));
        return Map.copyOf(all);
    }

    private Origin origin(String attribute, @Nullable Object value) {
        if (origins.containsKey(attribute)) {
            return new Origin(Source.CONFIGURATION, label(attribute));
        }
        return new Origin(value == null ? Source.DEFAULT : Source.DECLARATION, "");
    }

    /** Returns the rate as it was written; {@code null}: not at all. */
    @Nullable
    String rate() {
        return rate;
    }

    /** Returns {@code null} for the number in the rate. */
    @Nullable
    Long capacity() {
        return capacity;
    }

    LimitAlgorithm algorithm() {
        return algorithm == null ? LimitAlgorithm.DEFAULT : algorithm;
    }

    Refill refill() {
        return refill == null ? Refill.CONTINUOUS : refill;
    }

    Duration maxWait() {
        return maxWait == null ? Duration.ZERO : maxWait;
    }

    List<Duration> blockDurations() {
        return blockFor == null || isNever(blockFor) ? List.of() : blockFor;
    }

    private static boolean isNever(List<Duration> durations) {
        return durations.size() == 1 && durations.get(0).isZero();
    }

    long lease() {
        return lease == null ? 0 : lease;
    }

    /** Lets a plan with a small capacity have the lease of the limit, as far as it goes. */
    void leaseAtMost(long capacity) {
        lease = Math.min(lease(), capacity);
    }

    boolean hasRate() {
        return !algorithm().is(Algorithm.CONCURRENCY);
    }

    /** Returns the name of the server; {@code null}: the default one. */
    @Nullable
    String redis() {
        return redis == null || LimitNames.canonical(redis).equals(DEFAULT_REDIS) ? null : redis;
    }

    /** Returns the server as it was set; {@code null}: not at all. */
    @Nullable
    String ownRedis() {
        return redis;
    }

    /** Returns the hold as it was set; {@code null}: the default. */
    @Nullable
    Duration ownHold() {
        return hold;
    }

    Duration hold() {
        return hold == null ? RateLimit.DEFAULT_HOLD : hold;
    }

    Scope scope() {
        return scope == null ? Scope.SHARED : scope;
    }

    /** Returns the zone that the configuration sets for this limit alone; {@code null}: none. */
    @Nullable
    ZoneId configuredZone() {
        LimitOverrides origin = origins.get("zone");
        return origin == null || origin.property().equals(LimitOverrides.DEFAULTS) ? null : zone;
    }

    ZoneId zone() {
        return zone == null ? ZoneOffset.UTC : zone;
    }

    boolean enabled() {
        return enabled == null || enabled;
    }

    boolean dryRun() {
        return dryRun != null && dryRun;
    }

    OnStoreFailure onStoreFailure() {
        return onStoreFailure == null ? OnStoreFailure.LOCAL : onStoreFailure;
    }

    /** Returns the name of an attribute as its author wrote it: the property that it was read from, or else the attribute. */
    String label(String attribute) {
        LimitOverrides origin = origins.get(attribute);
        return origin == null ? attribute : origin.property() + "." + LimitNames.kebabCase(attribute);
    }
}
