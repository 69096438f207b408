package io.ratelimit;

import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Builds a {@link RateLimit} and validates it as a whole. Only {@link #rate} is required. */
public final class RateLimitBuilder {

    private final String name;

    private LimitOverrides overrides;

    /** Whether overrides have been applied, so that the mistake may be in the configuration. */
    private boolean configured;

    /** The properties that attributes were read from. */
    private final Map<String, LimitOverrides> origins = new HashMap<>();

    /** The attributes before overrides were applied; {@code null}: these. */
    private @Nullable RateLimitBuilder declaration;

    private @Nullable Algorithm algorithm;

    private @Nullable Refill refill;

    private @Nullable Boolean enabled;

    private @Nullable Boolean dryRun;

    private @Nullable OnStoreFailure onStoreFailure;

    private @Nullable Long capacity;

    private @Nullable String rate;

    private @Nullable Duration maxWait;

    private @Nullable List<Duration> blockFor;

    private @Nullable Long lease;

    private @Nullable Scope scope;

    private @Nullable ZoneId zone;

    private @Nullable Duration hold;

    private LocalShare share = LocalShare.WHOLE;

    /** The plan that the limit is for; {@code null}: callers without one. */
    private @Nullable String plan;

    /** Overrides of plans, by the names of the plans in lower case without dashes and underscores. */
    private Map<String, RateLimitOverride> planOverrides = Map.of();

    RateLimitBuilder(String name) {
        this.name = name;
        this.overrides = LimitOverrides.none(name);
    }

    /** Sets the algorithm; default: {@link Algorithm#TOKEN_BUCKET}. */
    public RateLimitBuilder algorithm(Algorithm algorithm) {
        this.algorithm = algorithm;
        return this;
    }

    /** Sets how permits are refilled; default: {@link Refill#CONTINUOUS}. */
    public RateLimitBuilder refill(Refill refill) {
        this.refill = refill;
        return this;
    }

    /**
     * Sets the maximum number of permits available at once, up to {@value RateLimit#MAX_CAPACITY}; 0, the default: the number
     * in the rate.
     */
    public RateLimitBuilder capacity(long capacity) {
        this.capacity = capacity == 0 ? null : Long.valueOf(capacity);
        return this;
    }

    /** Sets the rate, in the syntax of {@link Rate#parse}. */
    public RateLimitBuilder rate(String rate) {
        this.rate = rate;
        return this;
    }

    /** Sets the rate: so many permits become available per period, a whole number of microseconds. */
    public RateLimitBuilder rate(long permits, Duration period) {
        return rate(permits + "/" + period);
    }

    /**
     * Sets the maximum time to wait for permits, which are reserved if the limit has a rate; zero, the default: calls do not
     * wait.
     */
    public RateLimitBuilder maxWait(Duration maxWait) {
        this.maxWait = maxWait;
        return this;
    }

    /**
     * Sets for how long a rejection blocks the key. If the limit is violated again within the duration of a block after its
     * end, the next duration applies, and the last one repeats; otherwise the first applies again. None, the default, or a
     * single zero: a rejection blocks nothing.
     */
    public RateLimitBuilder blockFor(Duration... durations) {
        this.blockFor = List.of(durations);
        return this;
    }

    /**
     * Sets the maximum number of permits that an instance takes from a remote store in advance, together with those of a call,
     * to grant later calls in memory; 0, the default: none.
     */
    public RateLimitBuilder lease(long lease) {
        this.lease = lease;
        return this;
    }

    /** Sets whether the limit applies; default: true. */
    public RateLimitBuilder enabled(boolean enabled) {
        this.enabled = enabled;
        return this;
    }

    /** Sets whether rejections are only counted; default: false. */
    public RateLimitBuilder dryRun(boolean dryRun) {
        this.dryRun = dryRun;
        return this;
    }

    /** Sets what happens to calls while the store fails; default: {@link OnStoreFailure#LOCAL}. */
    public RateLimitBuilder onStoreFailure(OnStoreFailure onStoreFailure) {
        this.onStoreFailure = onStoreFailure;
        return this;
    }

    /** Sets which instances share the limit; default: {@link Scope#SHARED}. */
    public RateLimitBuilder scope(Scope scope) {
        this.scope = scope;
        return this;
    }

    /**
     * Sets the time zone in which the calendar unit of a rate such as {@code "10000/month"} begins and ends; default: UTC.
     * Without effect on other rates.
     */
    public RateLimitBuilder zone(ZoneId zone) {
        this.zone = zone;
        return this;
    }

    /**
     * Sets after which time the permits that an instance holds come back if the instance has died, with
     * {@link Algorithm#CONCURRENCY}; default: 30 seconds.
     */
    public RateLimitBuilder hold(Duration hold) {
        this.hold = hold;
        return this;
    }

    /**
     * Returns a builder in which the configuration is applied: overrides of this limit win over what customizers and
     * this builder set, and these win over the defaults of all limits.
     */
    public RateLimitBuilder apply(RateLimitSettings settings) {
        RateLimitBuilder result = copy();
        result.declaration = this;
        settings.customizers().forEach(customizer -> customizer.customize(name, result));
        result.overrides = settings.overrides(name);
        result.configured = true;
        result.resolve(settings.defaults());
        result.share = settings.localShare();
        return result;
    }

    private void resolve(LimitOverrides defaults) {
        algorithm = resolve("algorithm", overrides.algorithm(), algorithm, defaults.algorithm(), defaults);
        refill = resolve("refill", overrides.refill(), refill, defaults.refill(), defaults);
        capacity = resolve("capacity", overrides.capacity(), capacity, defaults.capacity(), defaults);
        rate = resolve("rate", overrides.rate(), rate, hasRate() ? defaults.rate() : null, defaults);
        maxWait = resolve("maxWait", overrides.maxWait(), maxWait, defaults.maxWait(), defaults);
        blockFor = resolve("blockFor", overrides.blockFor(), blockFor, defaults.blockFor(), defaults);
        lease = resolve("lease", overrides.lease(), lease, defaults.lease(), defaults);
        scope = resolve("scope", overrides.scope(), scope, defaults.scope(), defaults);
        zone = resolve("zone", overrides.zone(), zone, defaults.zone(), defaults);
        hold = resolve("hold", overrides.hold(), hold, null, defaults);
        enabled = resolve("enabled", overrides.enabled(), enabled, defaults.enabled(), defaults);
        dryRun = resolve("dryRun", overrides.dryRun(), dryRun, defaults.dryRun(), defaults);
        onStoreFailure = resolve(
                "onStoreFailure", overrides.onStoreFailure(), onStoreFailure, defaults.onStoreFailure(), defaults);
    }

    private <T> @Nullable T resolve(
            String attribute,
            @Nullable T override,
            @Nullable T declared,
            @Nullable T byDefault,
            LimitOverrides defaults) {
        if (override != null) {
            origins.put(attribute, overrides);
            return override;
        }
        if (declared != null || byDefault == null) {
            return declared;
        }
        origins.put(attribute, defaults);
        return byDefault;
    }

    /** Returns the attributes without the configuration. */
    RateLimitBuilder declaration() {
        return declaration != null ? declaration : copy();
    }

    /** Returns a builder with the attributes of overrides of the limit and of its plans, which win over all others. */
    RateLimitBuilder with(@Nullable RateLimitOverride override, Map<String, RateLimitOverride> ofPlans) {
        RateLimitBuilder result = snapshot();
        result.configured = true;
        result.planOverrides = Map.copyOf(ofPlans);
        if (override != null) {
            result.override(override);
        }
        return result;
    }

    private void override(RateLimitOverride override) {
        capacity = overridden("capacity", override.capacity(), capacity);
        rate = overridden("rate", override.rate(), rate);
        maxWait = overridden("maxWait", override.maxWait(), maxWait);
        blockFor = overridden("blockFor", override.blockFor(), blockFor);
        enabled = overridden("enabled", override.enabled(), enabled);
        dryRun = overridden("dryRun", override.dryRun(), dryRun);
        onStoreFailure = overridden("onStoreFailure", override.onStoreFailure(), onStoreFailure);
    }

    /**
     * Returns a builder of the limit of a plan: an override of the plan wins over its numbers, these over the configured plan of
     * its name, and that over the limit.
     */
    RateLimitBuilder of(RateLimitPlan numbers) {
        String id = LimitNames.canonical(numbers.name());
        RateLimitPlan configured = overrides.plans().get(id);
        RateLimitOverride override = planOverrides.get(id);
        RateLimitBuilder result = snapshot();
        result.plan = configured == null ? numbers.name() : configured.name();
        if (configured != null) {
            result.apply(configured, overrides.ofPlan(configured));
        }
        if (!numbers.equals(configured)) {
            result.apply(numbers, null);
        }
        if (override != null) {
            result.override(override);
        }
        return result;
    }

    /** @param origin of the numbers; {@code null}: the application's code */
    private void apply(RateLimitPlan numbers, @Nullable LimitOverrides origin) {
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

    Map<String, Origin> attributeOrigins() {
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

    /** Returns a copy with the configuration that was applied. */
    private RateLimitBuilder snapshot() {
        RateLimitBuilder copy = copy();
        copy.declaration = declaration();
        copy.overrides = overrides;
        copy.configured = configured;
        copy.origins.putAll(origins);
        copy.share = share;
        copy.plan = plan;
        copy.planOverrides = planOverrides;
        return copy;
    }

    RateLimitBuilder copy() {
        RateLimitBuilder copy = new RateLimitBuilder(name);
        copy.algorithm = algorithm;
        copy.refill = refill;
        copy.capacity = capacity;
        copy.rate = rate;
        copy.maxWait = maxWait;
        copy.blockFor = blockFor;
        copy.lease = lease;
        copy.scope = scope;
        copy.zone = zone;
        copy.hold = hold;
        copy.enabled = enabled;
        copy.dryRun = dryRun;
        copy.onStoreFailure = onStoreFailure;
        return copy;
    }

    String name() {
        return name;
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

    Algorithm algorithm() {
        return algorithm == null ? Algorithm.TOKEN_BUCKET : algorithm;
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

    @Nullable
    String plan() {
        return plan;
    }

    boolean hasRate() {
        return algorithm() != Algorithm.CONCURRENCY;
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

    /** Returns how to set a rate where this limit was declared. */
    String rateAdvice() {
        return configured
                ? "Give the declaration a rate such as \"10/s\", or set " + overrides.property()
                        + ".rate in the configuration."
                : "Call rate(\"10/s\"). The configuration can still override it.";
    }

    /**
     * Validates the attributes and builds the limit.
     *
     * @throws RateLimitConfigurationException if a number is missing, out of range or contradicts another
     */
    public RateLimit build() {
        try {
            return validated();
        } catch (RateLimitConfigurationException ex) {
            throw configured ? withAdvice(ex) : ex.at("RateLimit.named(\"" + name + "\")");
        }
    }

    /** Adds how to exempt this limit to a mistake that comes from the defaults of all limits. */
    private RateLimitConfigurationException withAdvice(RateLimitConfigurationException mistake) {
        String defaults = LimitOverrides.DEFAULTS + ".";
        if (!mistake.getProblem().startsWith(defaults)) {
            return mistake;
        }
        String attribute = mistake.getProblem().split(" ", 2)[0].substring(defaults.length());
        return new RateLimitConfigurationException(
                mistake.getProblem(),
                mistake.getFix() + " For this limit alone, set " + overrides.property() + "." + attribute + ".",
                mistake);
    }

    private RateLimit validated() {
        LimitValidation.Numbers numbers = LimitValidation.of(this);
        RateLimitBuilder source = snapshot();
        Map<String, RateLimit> plans = plan == null ? plans() : Map.of();
        RateLimit whole = new RateLimit(source, name, numbers, null, plans);
        RateLimit local = share.of(whole);
        return local.equals(whole) ? whole : new RateLimit(source, name, numbers, local, plans);
    }

    /** Returns the limits of the configured plans, by their names. */
    private Map<String, RateLimit> plans() {
        Map<String, RateLimit> plans = new TreeMap<>();
        overrides
                .plans()
                .values()
                .forEach(configured ->
                        plans.put(configured.name(), of(configured).build()));
        return plans;
    }

    /** Formats a duration as in a configuration: {@code 1m30s}. */
    static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
