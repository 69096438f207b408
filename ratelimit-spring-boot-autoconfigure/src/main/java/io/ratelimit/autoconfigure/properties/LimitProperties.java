package io.ratelimit.autoconfigure.properties;

import io.ratelimit.Algorithm;
import io.ratelimit.LimitAlgorithm;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.ReflectionUtils;

/**
 * Properties of one limit. If no annotation has its name, a rate or the algorithm CONCURRENCY declares it.
 *
 * @param algorithm How permits are counted: an algorithm of the starter, or the name of a RateLimitAlgorithm bean.
 * @param capacity Maximum number of permits at once, at least 1.
 * @param rate Maximum number of permits on average, such as "10/s", "100/m" or "5/10s".
 * @param keyExpression SpEL expression for the key of the bucket, in quotes; all-callers: one bucket for all callers.
 * @param keyResolver Name of a RateLimitKeyResolver bean that returns the key, instead of an expression.
 * @param permits SpEL expression for the number of permits that a call takes.
 * @param permitsAfter SpEL expression for the actual cost of a call, computed from its result after it.
 * @param condition SpEL expression; if it is false, the call is not limited.
 * @param refill How the permits of a token bucket come back.
 * @param maxWait Maximum time to wait for permits, which are reserved in advance.
 * @param enabled Whether this limit applies.
 * @param dryRun Whether calls that this limit would reject are counted and not rejected.
 * @param onStoreFailure What happens to calls of this limit while Redis fails.
 * @param refundOn Exceptions of the method after which the permits of this limit are refunded.
 * @param pointcut AspectJ expression for methods that are limited without an annotation.
 * @param lease Maximum number of permits that this instance takes from Redis in advance and hands out in memory. 0: none.
 *     Ignored by the in-memory store.
 * @param blockFor Time for which a rejection blocks the key, such as "1m". If there are several, such as "1m, 10m, 1h", the
 *     next applies if the limit is violated again within the duration of the last block. 0: blocks nothing.
 * @param scope Which instances share the limit.
 * @param zone Time zone in which the calendar unit of a rate such as "10000/month" begins, such as Europe/Berlin. Default:
 *     UTC.
 * @param planExpression SpEL expression for the plan of the caller, in quotes: the name of one of the plans; none: only
 *     code names plans.
 * @param planResolver Name of a RateLimitPlanResolver bean that finds the plan of a key, instead of an expression.
 * @param plans Numbers of each plan, by its name, instead of those of the limit.
 * @param hold Time after which the permits that an instance holds come back if the instance has died, for CONCURRENCY.
 * @param redis Name of the Redis server that the limit is counted in, configured below ratelimit.redis by this name. Default: the
 *     Redis of ratelimit.redis itself. Ignored by the in-memory store.
 */
public record LimitProperties(
        @Nullable String algorithm,
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
        @DefaultValue Map<String, Plan> plans,
        @Nullable Duration hold,
        @Nullable String redis) {

    LimitConfiguration configuration(String name) {
        String prefix = LimitConfiguration.of(name).property();
        return new LimitConfiguration(prefix, values(this, prefix), own(algorithm), plans(prefix));
    }

    /** Reads the attributes from the components of these names. */
    private static AttributeValues values(Record properties, String prefix) {
        return LimitAttributes.read(prefix, name -> {
            Method component = ReflectionUtils.findMethod(properties.getClass(), name);
            Object value = component == null ? null : ReflectionUtils.invokeMethod(component, properties);
            return switch (name) {
                case "algorithm" -> builtIn((String) value);
                case "refundOn" -> failures((List<?>) value, prefix);
                default -> value;
            };
        });
    }

    private static @Nullable LimitAlgorithm builtIn(@Nullable String algorithm) {
        Algorithm found = algorithm == null ? null : AlgorithmCatalog.builtIn(algorithm);
        return found == null ? null : LimitAlgorithm.of(found);
    }

    /** Returns the name of an algorithm that is none of the starter. */
    private static @Nullable String own(@Nullable String algorithm) {
        return builtIn(algorithm) == null ? algorithm : null;
    }

    private Map<String, RateLimitPlan> plans(String prefix) {
        Map<String, RateLimitPlan> all = new HashMap<>();
        // All spellings of a name are bound to the same values.
        for (String name : LimitNames.distinct(plans.keySet())) {
            Plan plan = Objects.requireNonNull(plans.get(name));
            all.put(LimitNames.canonical(name), LimitAttributes.plan(name, values(plan, prefix + ".plans." + name)));
        }
        return all;
    }

    /**
     * Returns these types of exceptions.
     *
     * @throws RateLimitConfigurationException if one is no exception, because the binder accepts any class
     */
    private static @Nullable List<?> failures(@Nullable List<?> types, String prefix) {
        for (Object type : types == null ? List.of() : types) {
            if (!Throwable.class.isAssignableFrom((Class<?>) type)) {
                throw new RateLimitConfigurationException(
                        prefix + ".refund-on must name subclasses of Throwable (was " + ((Class<?>) type).getName()
                                + ").",
                        "Name exceptions of the method, such as java.io.IOException.");
            }
        }
        return types;
    }

    /**
     * Numbers of a limit for callers with a plan. What is not set is as in the limit.
     *
     * @param capacity Maximum number of permits at once, at least 1.
     * @param rate Maximum number of permits on average, such as "10/s", "100/m" or "5/10s".
     * @param maxWait Maximum time to wait for permits, which are reserved in advance.
     * @param blockFor Time for which a rejection blocks the key, or several; 0: blocks nothing.
     * @param enabled Whether callers with this plan are limited.
     * @param dryRun Whether calls of this plan that would be rejected are counted and not rejected.
     */
    public record Plan(
            @Nullable Long capacity,
            @Nullable String rate,
            @Nullable Duration maxWait,
            @Nullable List<Duration> blockFor,
            @Nullable Boolean enabled,
            @Nullable Boolean dryRun) {}

    /**
     * Defaults of all limits. There is none for the capacity, because it belongs to a rate: a limit that sets its own rate
     * would have the capacity of another one.
     *
     * @param algorithm How permits are counted, unless a limit sets it: an algorithm of the starter, or the name of a
     *     RateLimitAlgorithm bean.
     * @param rate Rate of annotations without one, such as "10/s". Does not declare limits.
     * @param keyExpression SpEL expression for the key of limits without one, in quotes.
     * @param keyResolver Name of a RateLimitKeyResolver bean that returns the key of limits without an expression or a
     *     resolver.
     * @param condition SpEL expression for limits without one; if it is false, the call is not limited.
     * @param refill How the permits of token buckets come back, unless a limit sets it.
     * @param maxWait Maximum time to wait for permits, unless a limit sets it.
     * @param dryRun Whether calls that would be rejected are counted and not rejected, unless a limit sets it. Default:
     *     ratelimit.dry-run.
     * @param onStoreFailure What happens to calls while Redis fails, unless a limit sets it. Default:
     *     ratelimit.on-store-failure.
     * @param refundOn Exceptions of methods after which the permits are refunded, unless a limit names some.
     * @param lease Maximum number of permits that this instance takes from Redis in advance, unless a limit sets it.
     * @param blockFor Time for which a rejection blocks the key, unless a limit sets it. If there are several, each applies if
     *     the limit is violated again soon after the block before.
     * @param scope Which instances share a limit, unless it sets it.
     * @param zone Time zone of limits whose rate has a calendar unit, unless a limit sets it.
     * @param planExpression SpEL expression for the plan of the caller, for limits without one; none: no plan.
     * @param planResolver Name of a RateLimitPlanResolver bean that finds the plan, for limits without one.
     * @param hold Time after which the permits that an instance holds come back if the instance has died, for limits with
     *     CONCURRENCY that do not set it.
     * @param redis Name of the Redis server that limits are counted in, unless a limit sets it.
     */
    public record Defaults(
            @Nullable String algorithm,
            @Nullable String rate,
            @Nullable String keyExpression,
            @Nullable String keyResolver,
            @Nullable String condition,
            @Nullable Refill refill,
            @Nullable Duration maxWait,
            @Nullable Boolean dryRun,
            @Nullable OnStoreFailure onStoreFailure,
            @Nullable List<Class<? extends Throwable>> refundOn,
            @Nullable Long lease,
            @Nullable List<Duration> blockFor,
            @Nullable Scope scope,
            @Nullable ZoneId zone,
            @Nullable String planExpression,
            @Nullable String planResolver,
            @Nullable Duration hold,
            @Nullable String redis) {

        LimitConfiguration configuration(boolean dryRunOfAll, OnStoreFailure onStoreFailureOfAll) {
            String prefix = LimitConfiguration.DEFAULTS;
            return new LimitConfiguration(
                    prefix,
                    values(this, prefix)
                            .orElse(LimitAttributes.DRY_RUN, dryRunOfAll, prefix)
                            .orElse(LimitAttributes.ON_STORE_FAILURE, onStoreFailureOfAll, prefix),
                    own(algorithm),
                    Map.of());
        }
    }
}
