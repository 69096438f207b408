package io.ratelimit;

import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.LimitNames;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a limit is built from: a pure function of its declaration, the configuration and overrides.
 *
 * @param declared the attributes without the configuration
 * @param configuration {@code null}: not applied, so that a mistake is in the code
 * @param values the attributes that apply
 * @param share returns the limit that this instance applies while the store fails, or the same limit; its second argument is the
 *     number of instances that was counted, 0 if none was
 * @param plan the plan that the limit is for; {@code null}: callers without one
 * @param numbers what the application gives callers with the plan; {@code null}: what the configuration does
 * @param planOverrides overrides of plans, by the names of the plans in lower case without dashes and underscores
 */
@Internal
public record LimitDefinition(
        String name,
        AttributeValues declared,
        @Nullable LimitConfiguration configuration,
        AttributeValues values,
        BiFunction<RateLimit, Integer, RateLimit> share,
        @Nullable String plan,
        @Nullable RateLimitPlan numbers,
        Map<String, RateLimitOverride> planOverrides) {

    /** The name of the Redis of {@code ratelimit.redis} itself. */
    private static final String DEFAULT_REDIS = "default";

    /** Creates the definition of a declaration. */
    public LimitDefinition(String name, AttributeValues declared) {
        this(name, declared, null, declared, (limit, counted) -> limit, null, null, Map.of());
    }

    /** Returns a builder with the attributes without the configuration. */
    public RateLimitBuilder declaration() {
        return new RateLimitBuilder(name, declared);
    }

    /** Returns where each attribute comes from, by name. Of an attribute of the configuration, the place is the property. */
    public Map<String, Origin> origins() {
        return LimitAttributes.origins(values);
    }

    /**
     * Returns this definition with the configuration.
     *
     * @param customized the attributes as customizers leave them
     */
    public LimitDefinition configure(
            AttributeValues customized,
            LimitConfiguration own,
            AttributeValues defaults,
            BiFunction<RateLimit, Integer, RateLimit> localShare) {
        AttributeValues merged = LimitAttributes.merge(customized, own.values(), defaults);
        return new LimitDefinition(name, declared, own, merged, localShare, null, null, Map.of());
    }

    /**
     * Returns the limit with the attributes of an override.
     *
     * @throws RateLimitConfigurationException if it is invalid with them
     */
    public RateLimit with(RateLimitOverride override) {
        return with(override, Map.of());
    }

    /**
     * Returns the limit with the attributes of overrides, which win over all others, and its plans with them.
     *
     * @param override {@code null}: none
     * @param ofPlans overrides of plans, by the names of the plans in lower case without dashes and underscores
     * @throws RateLimitConfigurationException if the limit or one of its plans is invalid with them
     */
    public RateLimit with(@Nullable RateLimitOverride override, Map<String, RateLimitOverride> ofPlans) {
        AttributeValues overridden = override == null ? values : values.overriddenBy(override.values());
        try {
            return new LimitDefinition(
                            name,
                            declared,
                            configurationOrNone(),
                            overridden,
                            share,
                            plan,
                            numbers,
                            Map.copyOf(ofPlans))
                    .build();
        } catch (RateLimitConfigurationException ex) {
            throw ex.at("override of limit '" + name + "'");
        }
    }

    /**
     * Returns the limit that one instance applies on its own, with other numbers.
     *
     * @param rate {@code null}: as it is
     * @throws RateLimitConfigurationException if it is invalid with them
     */
    public RateLimit with(long capacity, @Nullable String rate, Refill refill) {
        AttributeValues numbers =
                values.with(LimitAttributes.CAPACITY, capacity).with(LimitAttributes.LEASE, 0L);
        return new LimitDefinition(
                        name,
                        rate == null
                                ? numbers
                                : numbers.with(LimitAttributes.RATE, rate).with(LimitAttributes.REFILL, refill))
                .build();
    }

    /**
     * Returns the limit of a plan. What the plan does not set is as in the configured plan of its name, if there is one, or as in
     * the limit. An override of the plan wins.
     *
     * @throws RateLimitConfigurationException if the limit is invalid with the numbers of the plan
     */
    public RateLimit with(RateLimitPlan ofPlan) {
        String id = LimitNames.canonical(ofPlan.name());
        RateLimitPlan configured = configurationOrNone().plans().get(id);
        RateLimitOverride override = planOverrides.get(id);
        AttributeValues merged = configured == null ? values : values.overriddenBy(configured.values());
        RateLimitPlan ofCode = ofPlan.equals(configured) ? null : ofPlan;
        if (ofCode != null) {
            merged = merged.overriddenBy(ofCode.values());
        }
        if (override != null) {
            merged = merged.overriddenBy(override.values());
        }
        String planName = configured == null ? ofPlan.name() : configured.name();
        return new LimitDefinition(name, declared, configuration, merged, share, planName, ofCode, planOverrides)
                .build();
    }

    /**
     * Returns whether two limits and their plans are set alike: then no override tells them apart. Limits with the same numbers may
     * not be, such as those with and without a capacity that is the number in the rate.
     */
    public boolean isSetAs(LimitDefinition other) {
        return LimitAttributes.areSame(values, other.values)
                && planOverrides.equals(other.planOverrides)
                && configurationOrNone()
                        .plans()
                        .equals(other.configurationOrNone().plans());
    }

    private LimitConfiguration configurationOrNone() {
        return configuration != null ? configuration : LimitConfiguration.of(name);
    }

    /** Returns the name of the Redis server; {@code null}: the one of {@code ratelimit.redis} itself. */
    @Nullable
    String redis() {
        String redis = values.get(LimitAttributes.REDIS);
        return redis == null || LimitNames.canonical(redis).equals(DEFAULT_REDIS) ? null : redis;
    }

    /** Returns how to set a rate where this limit was declared. */
    String rateAdvice() {
        return configuration != null
                ? "Give the declaration a rate such as \"10/s\", or set " + configuration.property()
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
            throw configuration != null ? withAdvice(ex, configuration) : ex.at("RateLimit.named(\"" + name + "\")");
        }
    }

    /** Adds how to exempt this limit to a mistake that comes from the defaults of all limits. */
    private static RateLimitConfigurationException withAdvice(
            RateLimitConfigurationException mistake, LimitConfiguration own) {
        String defaults = LimitConfiguration.DEFAULTS + ".";
        if (!mistake.getProblem().startsWith(defaults)) {
            return mistake;
        }
        String attribute = mistake.getProblem().split(" ", 2)[0].substring(defaults.length());
        return new RateLimitConfigurationException(
                mistake.getProblem(),
                mistake.getFix() + " For this limit alone, set " + own.property() + "." + attribute + ".",
                mistake);
    }

    private RateLimit validated() {
        LimitValidation valid = new LimitValidation(this);
        Map<String, RateLimit> plans = plan == null ? plans() : Map.of();
        RateLimit limit = new RateLimit(this, valid, plans);
        limit.local(0);
        return limit;
    }

    /** Returns the limits of the configured plans, by their names. */
    private Map<String, RateLimit> plans() {
        Map<String, RateLimit> plans = new TreeMap<>();
        configurationOrNone().plans().values().forEach(configured -> plans.put(configured.name(), limitOf(configured)));
        return plans;
    }

    private RateLimit limitOf(RateLimitPlan configured) {
        try {
            return with(configured);
        } catch (RateLimitConfigurationException ex) {
            throw planOverrides.containsKey(LimitNames.canonical(configured.name()))
                    ? ex.at("override of limit '" + name + "', plan '" + configured.name() + "'")
                    : ex;
        }
    }
}
