package io.ratelimit;

import io.ratelimit.internal.limit.LimitNames;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Builds a {@link RateLimit} and validates it as a whole. Only {@link #rate} is required. */
public final class RateLimitBuilder {

    private final String name;

    private final LimitAttributes attributes;

    private LimitOverrides overrides;

    /** Whether overrides have been applied, so that the mistake may be in the configuration. */
    private boolean configured;

    /** The attributes before overrides were applied; {@code null}: these. */
    private @Nullable RateLimitBuilder declaration;

    private LocalShare share = LocalShare.WHOLE;

    /** The plan that the limit is for; {@code null}: callers without one. */
    private @Nullable String plan;

    /** Overrides of plans, by the names of the plans in lower case without dashes and underscores. */
    private Map<String, RateLimitOverride> planOverrides = Map.of();

    RateLimitBuilder(String name) {
        this(name, new LimitAttributes());
    }

    private RateLimitBuilder(String name, LimitAttributes attributes) {
        this.name = name;
        this.attributes = attributes;
        this.overrides = LimitOverrides.none(name);
    }

    /** Sets the algorithm; default: {@link Algorithm#TOKEN_BUCKET}. */
    public RateLimitBuilder algorithm(Algorithm algorithm) {
        return algorithm(LimitAlgorithm.of(algorithm));
    }

    /** Sets an algorithm of the application. With Redis it must be a bean, too, because Redis gets its Lua part at start-up. */
    public RateLimitBuilder algorithm(RateLimitAlgorithm algorithm) {
        return algorithm(LimitAlgorithm.of(algorithm));
    }

    RateLimitBuilder algorithm(LimitAlgorithm algorithm) {
        attributes.algorithm = algorithm;
        return this;
    }

    /** Sets how permits are refilled; default: {@link Refill#CONTINUOUS}. */
    public RateLimitBuilder refill(Refill refill) {
        attributes.refill = refill;
        return this;
    }

    /**
     * Sets the maximum number of permits available at once, up to {@value RateLimit#MAX_CAPACITY}; 0, the default: the number
     * in the rate.
     */
    public RateLimitBuilder capacity(long capacity) {
        attributes.capacity = capacity == 0 ? null : Long.valueOf(capacity);
        return this;
    }

    /** Sets the rate, in the syntax of {@link Rate#parse}. */
    public RateLimitBuilder rate(String rate) {
        attributes.rate = rate;
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
        attributes.maxWait = maxWait;
        return this;
    }

    /**
     * Sets for how long a rejection blocks the key. If the limit is violated again within the duration of a block after its
     * end, the next duration applies, and the last one repeats; otherwise the first applies again. None, the default, or a
     * single zero: a rejection blocks nothing.
     */
    public RateLimitBuilder blockFor(Duration... durations) {
        attributes.blockFor = List.of(durations);
        return this;
    }

    /**
     * Sets the maximum number of permits that an instance takes from a remote store in advance, together with those of a call,
     * to grant later calls in memory; 0, the default: none. Not together with {@code blockFor}.
     */
    public RateLimitBuilder lease(long lease) {
        attributes.lease = lease;
        return this;
    }

    /** Sets whether the limit applies; default: true. */
    public RateLimitBuilder enabled(boolean enabled) {
        attributes.enabled = enabled;
        return this;
    }

    /** Sets whether rejections are only counted; default: false. */
    public RateLimitBuilder dryRun(boolean dryRun) {
        attributes.dryRun = dryRun;
        return this;
    }

    /** Sets what happens to calls while the store fails; default: {@link OnStoreFailure#LOCAL}. */
    public RateLimitBuilder onStoreFailure(OnStoreFailure onStoreFailure) {
        attributes.onStoreFailure = onStoreFailure;
        return this;
    }

    /** Sets which instances share the limit; default: {@link Scope#SHARED}. */
    public RateLimitBuilder scope(Scope scope) {
        attributes.scope = scope;
        return this;
    }

    /**
     * Sets the time zone in which the calendar unit of a rate such as {@code "10000/month"} begins and ends; default: UTC.
     * Without effect on other rates.
     */
    public RateLimitBuilder zone(ZoneId zone) {
        attributes.zone = zone;
        return this;
    }

    /**
     * Sets after which time the permits that an instance holds come back if the instance has died, with
     * {@link Algorithm#CONCURRENCY}; default: 30 seconds.
     */
    public RateLimitBuilder hold(Duration hold) {
        attributes.hold = hold;
        return this;
    }

    /**
     * Sets the Redis server that the limit is counted in, by its name below {@code ratelimit.redis}; default: the Redis of {@code
     * ratelimit.redis} itself, which is also named {@code default}. Without effect on other stores.
     */
    public RateLimitBuilder redis(String server) {
        attributes.redis = server;
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
        result.attributes.configure(result.overrides, settings.defaults(), settings.algorithms());
        result.share = settings.localShare();
        return result;
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
            result.attributes.override(override);
        }
        return result;
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
            result.attributes.plan(configured, overrides.ofPlan(configured));
        }
        if (!numbers.equals(configured)) {
            result.attributes.plan(numbers, null);
        }
        if (override != null) {
            result.attributes.override(override);
        }
        return result;
    }

    /** Returns a copy with the configuration that was applied. */
    private RateLimitBuilder snapshot() {
        RateLimitBuilder copy = new RateLimitBuilder(name, attributes.copy());
        copy.declaration = declaration();
        copy.overrides = overrides;
        copy.configured = configured;
        copy.share = share;
        copy.plan = plan;
        copy.planOverrides = planOverrides;
        return copy;
    }

    /** Returns a copy without any configuration. */
    RateLimitBuilder copy() {
        return new RateLimitBuilder(name, new LimitAttributes(attributes));
    }

    String name() {
        return name;
    }

    LimitAttributes attributes() {
        return attributes;
    }

    @Nullable
    String plan() {
        return plan;
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
        LimitValidation valid = LimitValidation.of(this);
        RateLimitBuilder source = snapshot();
        Map<String, RateLimit> plans = plan == null ? plans() : Map.of();
        RateLimit whole = new RateLimit(source, name, valid.rate(), valid.numbers(), null, plans);
        RateLimit local = share.of(whole);
        return local.equals(whole) ? whole : new RateLimit(source, name, valid.rate(), valid.numbers(), local, plans);
    }

    /** Returns the limits of the configured plans, by their names. */
    private Map<String, RateLimit> plans() {
        Map<String, RateLimit> plans = new TreeMap<>();
        overrides.plans().values().forEach(configured -> plans.put(configured.name(), limitOf(configured)));
        return plans;
    }

    private RateLimit limitOf(RateLimitPlan configured) {
        try {
            return of(configured).build();
        } catch (RateLimitConfigurationException ex) {
            throw planOverrides.containsKey(LimitNames.canonical(configured.name()))
                    ? ex.at("override of limit '" + name + "', plan '" + configured.name() + "'")
                    : ex;
        }
    }
}
