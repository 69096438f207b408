package io.ratelimit;

import io.ratelimit.internal.limit.LimitNames;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the configuration sets for one limit below {@code ratelimit.limits}, or for all limits below
 * {@code ratelimit.defaults}. The properties of a limit override its declaration, attribute by attribute; the defaults apply to what
 * neither sets. {@code null}: not set. What an operator sets at run time is a {@link RateLimitOverride}.
 *
 * @param property the prefix of these properties, such as {@code ratelimit.limits.quotes}
 * @param ownAlgorithm the name of an algorithm of the application, in place of {@code algorithm}
 * @param pointcut selects methods that the limit applies to in addition to those that declare it
 * @param plans by their names in lower case without dashes and underscores; the defaults of all limits have none
 */
public record LimitOverrides(
        String property,
        @Nullable Algorithm algorithm,
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable String keyExpression,
        @Nullable String keyResolver,
        @Nullable String permits,
        @Nullable String permitsAfter,
        @Nullable String condition,
        @Nullable Refill refill,
        @Nullable Duration maxWait,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun,
        @Nullable OnStoreFailure onStoreFailure,
        @Nullable List<Class<? extends Throwable>> refundOn,
        @Nullable String pointcut,
        @Nullable Long lease,
        @Nullable List<Duration> blockFor,
        @Nullable Scope scope,
        @Nullable ZoneId zone,
        @Nullable String planExpression,
        @Nullable String planResolver,
        Map<String, RateLimitPlan> plans,
        @Nullable Duration hold,
        @Nullable String ownAlgorithm,
        @Nullable String redis) {

    /** A key expression that selects one bucket for all callers. Needed because a property cannot be empty. */
    public static final String ALL_CALLERS = "all-callers";

    /** A plan expression that gives no caller a plan. */
    public static final String NO_PLAN = "none";

    /** The prefix of the properties that apply to all limits, as a value of {@link #property}. */
    public static final String DEFAULTS = "ratelimit.defaults";

    private static final String PREFIX = "ratelimit.limits.";

    public LimitOverrides {
        blockFor = blockFor == null ? null : List.copyOf(blockFor);
        plans = Map.copyOf(plans);
        if (keyExpression != null && keyResolver != null) {
            throw new RateLimitConfigurationException(
                    property + ".key-resolver must not be set beside key-expression (was \"" + keyResolver + "\").",
                    "Remove one of them.");
        }
        if (planExpression != null && planResolver != null) {
            throw new RateLimitConfigurationException(
                    property + ".plan-resolver must not be set beside plan-expression (was \"" + planResolver + "\").",
                    "Remove one of them.");
        }
        if (property.equals(DEFAULTS) && rate != null) {
            // No limit may need it, so that nothing else would parse it.
            LimitValidation.parse(DEFAULTS + ".rate", rate);
        }
        if (property.equals(DEFAULTS) && hold != null) {
            LimitValidation.checkHold(DEFAULTS + ".hold", hold);
        }
    }

    /**
     * Returns the algorithm; {@code null}: not set.
     *
     * @throws RateLimitConfigurationException if there is none with this name
     */
    @Nullable
    LimitAlgorithm algorithmOf(AlgorithmCatalog algorithms) {
        if (ownAlgorithm != null) {
            return LimitAlgorithm.of(algorithms.get(ownAlgorithm, property + ".algorithm"));
        }
        return algorithm == null ? null : LimitAlgorithm.of(algorithm);
    }

    public String limitName() {
        return property.substring(PREFIX.length());
    }

    /** Returns whether the properties declare a limit that no code declares: by a rate, or as a concurrency limit. */
    public boolean declaresLimit() {
        return rate != null || algorithm == Algorithm.CONCURRENCY;
    }

    /** Returns the name of an attribute as its author wrote it: the property, if there is one, or else the attribute. */
    public String label(String attribute, @Nullable Object override) {
        return override == null ? attribute : property + "." + LimitNames.kebabCase(attribute);
    }

    /** Returns whether the key is set, by an expression or a resolver. */
    public boolean hasKey() {
        return keyExpression != null || keyResolver != null;
    }

    /** Returns whether the plan is set, by an expression or a resolver. */
    public boolean hasPlan() {
        return planExpression != null || planResolver != null;
    }

    /** Describes what determines the plan; {@code null}: nothing. */
    public @Nullable String planText() {
        return planResolver != null ? "resolver " + planResolver : planExpression;
    }

    /** Returns the properties of a plan, known by their prefix alone. */
    LimitOverrides ofPlan(RateLimitPlan plan) {
        return at(property + ".plans." + plan.name()).build();
    }

    /** Describes the key for the log; without one, all callers share a bucket. */
    public String keyText() {
        return keyResolver != null ? "resolver " + keyResolver : keyExpression != null ? keyExpression : ALL_CALLERS;
    }

    static LimitOverrides defaults(boolean dryRun, OnStoreFailure onStoreFailure) {
        return at(DEFAULTS).dryRun(dryRun).onStoreFailure(onStoreFailure).build();
    }

    static LimitOverrides none(String name) {
        return at(PREFIX + name).build();
    }

    /**
     * Creates a builder without any value.
     *
     * @param property the prefix of the properties
     */
    public static Builder at(String property) {
        return new Builder(property);
    }

    /** Builds properties of one limit, or the defaults of all. {@code null}: not set. */
    public static final class Builder {

        private final String property;

        private @Nullable Algorithm algorithm;

        private @Nullable Long capacity;

        private @Nullable String rate;

        private @Nullable String keyExpression;

        private @Nullable String keyResolver;

        private @Nullable String permits;

        private @Nullable String permitsAfter;

        private @Nullable String condition;

        private @Nullable Refill refill;

        private @Nullable Duration maxWait;

        private @Nullable Boolean enabled;

        private @Nullable Boolean dryRun;

        private @Nullable OnStoreFailure onStoreFailure;

        private @Nullable List<Class<? extends Throwable>> refundOn;

        private @Nullable String pointcut;

        private @Nullable Long lease;

        private @Nullable List<Duration> blockFor;

        private @Nullable Scope scope;

        private @Nullable ZoneId zone;

        private @Nullable String planExpression;

        private @Nullable String planResolver;

        private @Nullable Duration hold;

        private @Nullable String ownAlgorithm;

        private @Nullable String redis;

        private Map<String, RateLimitPlan> plans = Map.of();

        private Builder(String property) {
            this.property = property;
        }

        public Builder algorithm(@Nullable Algorithm algorithm) {
            this.algorithm = algorithm;
            return this;
        }

        public Builder capacity(@Nullable Long capacity) {
            this.capacity = capacity;
            return this;
        }

        public Builder rate(@Nullable String rate) {
            this.rate = rate;
            return this;
        }

        public Builder keyExpression(@Nullable String keyExpression) {
            this.keyExpression = keyExpression;
            return this;
        }

        public Builder keyResolver(@Nullable String keyResolver) {
            this.keyResolver = keyResolver;
            return this;
        }

        public Builder permits(@Nullable String permits) {
            this.permits = permits;
            return this;
        }

        public Builder permitsAfter(@Nullable String permitsAfter) {
            this.permitsAfter = permitsAfter;
            return this;
        }

        public Builder condition(@Nullable String condition) {
            this.condition = condition;
            return this;
        }

        public Builder refill(@Nullable Refill refill) {
            this.refill = refill;
            return this;
        }

        public Builder maxWait(@Nullable Duration maxWait) {
            this.maxWait = maxWait;
            return this;
        }

        public Builder enabled(@Nullable Boolean enabled) {
            this.enabled = enabled;
            return this;
        }

        public Builder dryRun(@Nullable Boolean dryRun) {
            this.dryRun = dryRun;
            return this;
        }

        public Builder onStoreFailure(@Nullable OnStoreFailure onStoreFailure) {
            this.onStoreFailure = onStoreFailure;
            return this;
        }

        public Builder refundOn(@Nullable List<Class<? extends Throwable>> refundOn) {
            this.refundOn = refundOn;
            return this;
        }

        public Builder pointcut(@Nullable String pointcut) {
            this.pointcut = pointcut;
            return this;
        }

        public Builder lease(@Nullable Long lease) {
            this.lease = lease;
            return this;
        }

        public Builder blockFor(@Nullable List<Duration> blockFor) {
            this.blockFor = blockFor;
            return this;
        }

        public Builder scope(@Nullable Scope scope) {
            this.scope = scope;
            return this;
        }

        public Builder zone(@Nullable ZoneId zone) {
            this.zone = zone;
            return this;
        }

        public Builder planExpression(@Nullable String planExpression) {
            this.planExpression = planExpression;
            return this;
        }

        public Builder planResolver(@Nullable String planResolver) {
            this.planResolver = planResolver;
            return this;
        }

        public Builder plans(Map<String, RateLimitPlan> plans) {
            this.plans = plans;
            return this;
        }

        public Builder hold(@Nullable Duration hold) {
            this.hold = hold;
            return this;
        }

        /** Names an algorithm of the application. */
        public Builder ownAlgorithm(@Nullable String ownAlgorithm) {
            this.ownAlgorithm = ownAlgorithm;
            return this;
        }

        public Builder redis(@Nullable String redis) {
            this.redis = redis;
            return this;
        }

        public LimitOverrides build() {
            return new LimitOverrides(
                    property,
                    algorithm,
                    capacity,
                    rate,
                    keyExpression,
                    keyResolver,
                    permits,
                    permitsAfter,
                    condition,
                    refill,
                    maxWait,
                    enabled,
                    dryRun,
                    onStoreFailure,
                    refundOn,
                    pointcut,
                    lease,
                    blockFor,
                    scope,
                    zone,
                    planExpression,
                    planResolver,
                    plans,
                    hold,
                    ownAlgorithm,
                    redis);
        }
    }
}
