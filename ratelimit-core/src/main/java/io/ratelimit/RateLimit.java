package io.ratelimit;

import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.CapacityRange;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limit.LimitNumbers;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A validated limit. A bean of this type declares a limit without an annotation; properties below
 * {@code ratelimit.limits.<name>} override it:
 *
 * <pre>{@code RateLimit.named("exports").capacity(5).rate("1/m").build()}</pre>
 */
public final class RateLimit {

    /** The largest capacity. */
    public static final long MAX_CAPACITY = CapacityRange.LARGEST;

    private final String id;

    private final LimitAlgorithm algorithm;

    /** {@code null}: permits come back when calls end. */
    private final @Nullable Rate rate;

    private final LimitNumbers numbers;

    private final Duration maxWait;

    private final List<Duration> blockFor;

    private final long lease;

    private final boolean enabled;

    private final boolean dryRun;

    private final OnStoreFailure onStoreFailure;

    private final Scope scope;

    private final @Nullable String redis;

    private final LimitDefinition definition;

    /** {@code null}: not asked for yet. */
    private volatile @Nullable Share share;

    /** {@code null}: no store has asked for it yet. */
    private volatile @Nullable Object compiled;

    private final Map<String, RateLimit> plans;

    private final boolean anyPlanBlocksKeys;

    /** The limit of callers without a plan, which may be this one. */
    private RateLimit ofOthers = this;

    /** @param plans by the names of the plans */
    RateLimit(LimitDefinition definition, LimitValidation valid, Map<String, RateLimit> plans) {
        AttributeValues values = definition.values();
        this.definition = definition;
        this.id = LimitNames.canonical(definition.name());
        this.numbers = valid.numbers;
        this.rate = valid.rate;
        this.algorithm = values.effective(LimitAttributes.ALGORITHM);
        this.maxWait = values.effective(LimitAttributes.MAX_WAIT);
        this.blockFor = valid.blockDurations;
        this.lease = valid.lease;
        this.enabled = values.effective(LimitAttributes.ENABLED);
        this.dryRun = values.effective(LimitAttributes.DRY_RUN);
        this.onStoreFailure = values.effective(LimitAttributes.ON_STORE_FAILURE);
        this.scope = values.effective(LimitAttributes.SCOPE);
        this.redis = definition.redis();
        this.plans = Collections.unmodifiableMap(plans);
        this.anyPlanBlocksKeys = withPlans().stream().anyMatch(RateLimit::blocksKeys);
        plans.values().forEach(plan -> plan.ofOthers = this);
    }

    /**
     * Starts the declaration of a limit.
     *
     * @param name letters, digits, {@code -} and {@code _}
     */
    public static RateLimitBuilder named(String name) {
        return new RateLimitBuilder(name, AttributeValues.NONE);
    }

    /** Returns what this limit is built from. */
    @Internal
    public LimitDefinition definition() {
        return definition;
    }

    public String name() {
        return definition.name();
    }

    /** Returns the plan that this limit is for; {@code null}: callers without a plan. */
    public @Nullable String plan() {
        return definition.plan();
    }

    /** Returns the limits of the configured plans, by the names of the plans. They count in the same buckets as this limit. */
    public Map<String, RateLimit> plans() {
        return plans;
    }

    /** Returns this limit and those of its plans. */
    @Internal
    public List<RateLimit> withPlans() {
        return Stream.concat(Stream.of(this), plans.values().stream()).toList();
    }

    /** Returns the limit of a plan with numbers of its own: see {@link LimitDefinition#with(RateLimitPlan)}. */
    @Internal
    public RateLimit with(RateLimitPlan plan) {
        RateLimit ofPlan = definition.with(plan);
        ofPlan.ofOthers = this;
        return ofPlan;
    }

    /** Returns the name that stores use: the same for all spellings of {@link #name}. */
    public String id() {
        return id;
    }

    /** Returns the algorithm; {@code null}: it is the application's own, see {@link #ownAlgorithm()}. */
    public @Nullable Algorithm algorithm() {
        return algorithm.builtIn();
    }

    /** Returns the application's own algorithm; {@code null}: it is one of {@link Algorithm}. */
    public @Nullable RateLimitAlgorithm ownAlgorithm() {
        return algorithm.own();
    }

    /** Returns the name of the algorithm: the constant of {@link Algorithm}, or the name of the application's own. */
    public String algorithmName() {
        return algorithm.name();
    }

    public Refill refill() {
        return definition.values().effective(LimitAttributes.REFILL);
    }

    /** Returns the maximum number of permits available at once. */
    public long capacity() {
        return numbers.capacity();
    }

    /** Returns whether the limit has a rate, as all have but those with {@link Algorithm#CONCURRENCY}. */
    public boolean hasRate() {
        return rate != null;
    }

    /**
     * Returns the average number of permits per period.
     *
     * @throws IllegalStateException if the limit {@linkplain #hasRate() has none}
     */
    public Rate rate() {
        if (rate == null) {
            throw new IllegalStateException("Limit '" + name() + "' has no rate: its permits come back when calls end");
        }
        return rate;
    }

    /** Returns the numbers that stores count with. */
    @Internal
    public LimitNumbers numbers() {
        return numbers;
    }

    /**
     * Returns {@code capacity / rate} in microseconds: the length of a window, or the time to fill an empty bucket. Rounded
     * up, which is still exact: a window that starts with a call starts at a whole microsecond, and an aligned window is a
     * whole number of microseconds. Of a calendar unit it is the longest length. 0 without a rate.
     */
    public long fullMicros() {
        return numbers.fullMicros();
    }

    /**
     * Returns the maximum time to wait for permits, in whole microseconds; zero: a call does not wait. With a rate, the permits
     * are reserved.
     */
    public Duration maxWait() {
        return maxWait;
    }

    /**
     * Returns for how long a rejection blocks the key: the first duration, then the next each time the limit is violated again
     * within the duration of the last block, then the last of them; empty: not at all.
     */
    public List<Duration> blockFor() {
        return blockFor;
    }

    /**
     * Returns whether a decision of this limit means that the key is blocked by {@link #blockFor}. A call that can never succeed
     * blocks nothing, and neither does a dry run.
     */
    @Internal
    public boolean isBlockedBy(RateLimitDecision decision) {
        return !blockFor.isEmpty() && !dryRun && !decision.allowed() && decision.retryAfter() != null;
    }

    /** Returns whether a call that lacks permits is a violation: a limit that is disabled or in dry run rejects none. */
    @Internal
    public boolean blocksKeys() {
        return enabled && !dryRun && !blockFor.isEmpty();
    }

    /**
     * Returns whether the lack of what a call takes can block the key: of callers with this plan, or with another one of the
     * configuration, which share the bucket. A charge in dry run is never undone.
     */
    @Internal
    public boolean mayBlockOthers() {
        return !dryRun && (blocksKeys() || ofOthers.anyPlanBlocksKeys);
    }

    /** Returns whether keys are blocked for callers with this plan alone, which comes from code: calls with other plans cannot know. */
    @Internal
    public boolean blocksKeysByCodeAlone() {
        return blocksKeys() && !ofOthers.anyPlanBlocksKeys;
    }

    /** Returns whether callers can have plans of code, whose numbers calls with other plans cannot know. */
    @Internal
    public boolean mayHavePlansOfCode() {
        AttributeValues values = definition.values();
        return !ofOthers.plans.isEmpty()
                || values.has(LimitAttributes.PLAN_EXPRESSION)
                || values.has(LimitAttributes.PLAN_RESOLVER);
    }

    /** Returns whether this limit {@linkplain #blocksKeys blocks keys}, or that of one of its plans. */
    @Internal
    public boolean anyPlanBlocksKeys() {
        return anyPlanBlocksKeys;
    }

    /**
     * Returns the maximum number of permits that an instance takes in advance, together with those of a call, to grant later
     * calls in memory; 0: none.
     */
    public long lease() {
        return lease;
    }

    /** Returns whether a call may have to wait before it proceeds. */
    @Internal
    public boolean mayDelay() {
        return !dryRun && (numbers.traits().has(Trait.SPACES_CALLS) || !maxWait.isZero());
    }

    /** Returns whether the limit applies. */
    public boolean enabled() {
        return enabled;
    }

    /** Returns whether rejections are only counted. */
    public boolean dryRun() {
        return dryRun;
    }

    public OnStoreFailure onStoreFailure() {
        return onStoreFailure;
    }

    /** Returns which instances share the limit. */
    public Scope scope() {
        return scope;
    }

    /** Returns the time zone of the windows, if the period of the rate is a calendar unit; otherwise it has no effect. */
    public ZoneId zone() {
        return definition.values().effective(LimitAttributes.ZONE);
    }

    /**
     * Returns after which time the permits that an instance holds come back if the instance has died. A live instance renews
     * them. Only {@link Algorithm#CONCURRENCY} has use for it.
     */
    public Duration hold() {
        return definition.values().effective(LimitAttributes.HOLD);
    }

    /**
     * Returns the name of the Redis server that the limit is counted in, below {@code ratelimit.redis}; {@code null}: the Redis of
     * {@code ratelimit.redis} itself.
     */
    public @Nullable String redis() {
        return redis;
    }

    /** Returns the limit that this instance applies while the store fails, if so many instances were counted; 0: none was. */
    @Internal
    public RateLimit local(int counted) {
        Share known = share;
        if (known == null || known.counted() != counted) {
            known = new Share(counted, definition.share().apply(this, counted));
            share = known;
        }
        return known.limit();
    }

    private record Share(int counted, RateLimit limit) {}

    /** Returns what a store has last {@linkplain #compiled(Object) worked out} for this limit; {@code null}: nothing yet. */
    @Internal
    public @Nullable Object compiled() {
        return compiled;
    }

    /** Keeps what a store has worked out for this limit, where the next call finds it faster than in a map. */
    @Internal
    public void compiled(Object ofStore) {
        compiled = ofStore;
    }

    /** Returns whether both have the same numbers, so that two declarations of one name can share the limit. */
    @Internal
    public boolean agreesWith(RateLimit other) {
        return declared().equals(other.declared());
    }

    /** Rates that are refilled continuously are the same if they are so in lowest terms. */
    private List<@Nullable Object> declared() {
        boolean inCalendarUnits = numbers.calendar() != null;
        return Arrays.asList(
                algorithm,
                refill(),
                capacity(),
                inCalendarUnits || refill() == Refill.INTERVAL ? rate : numbers.rate(),
                inCalendarUnits ? zone() : null,
                maxWait,
                blockFor,
                scope,
                hold(),
                redis == null ? null : LimitNames.canonical(redis));
    }

    /** Formats the limit as {@code TOKEN_BUCKET, capacity 20 at 10/s}. */
    @Override
    public String toString() {
        return algorithm + ", capacity " + capacity()
                + (rate == null ? "" : " at " + rate)
                + (numbers.calendar() == null ? "" : " in " + zone())
                + (refill() == Refill.INTERVAL ? ", refill INTERVAL" : "")
                + (maxWait.isZero() ? "" : ", maxWait " + DurationText.of(maxWait))
                + (blockFor.isEmpty() ? "" : ", blockFor " + LimitAttributes.BLOCK_FOR.format(blockFor))
                + (lease == 0 ? "" : ", lease " + lease)
                + (numbers.traits().has(Trait.HOLDS_PERMITS) ? ", hold " + DurationText.of(hold()) : "")
                + (scope == Scope.SHARED ? "" : ", scope " + scope)
                + (redis == null ? "" : ", redis " + redis)
                + (dryRun ? ", dry run" : "")
                + (enabled ? "" : ", disabled")
                + (plan() == null ? "" : ", plan " + plan())
                + (plans.isEmpty() ? "" : ", plans " + String.join(", ", plans.keySet()));
    }
}
