package io.ratelimit.actuate;

import io.ratelimit.LimitAttributes;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStatus.ActiveOverride;
import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.statistics.CallCounts;
import io.ratelimit.internal.statistics.CountSeries;
import io.ratelimit.internal.statistics.Figures;
import io.ratelimit.internal.statistics.KeyCount;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Describes a limit as it applies now.
 *
 * @param rate {@code null}: permits come back when calls end
 * @param hold when the permits of a dead instance come back; {@code null}: the limit has a rate
 * @param redis the Redis server that it is counted in; {@code null}: the first, or none
 * @param zone the time zone of its calendar windows; {@code null}: it has none
 * @param refill {@code null}: it has no rate
 * @param origins where each attribute comes from
 * @param override the attributes that it sets, and its {@code version}, which is to be sent with a change that must not undo
 *     another one, {@code until} when it applies, its {@code principal}, and the {@code problem} why this instance does not apply it;
 *     {@code null}: none
 * @param plans the numbers of the configured plans, by their names; {@code null}: there are none
 * @param pointcut the pointcut of the configuration, if there is one
 * @param methods the methods that it applies to, and what a call is charged
 * @param requests the requests that URL rules limit, such as {@code POST /login}, and what each is charged
 * @param lastMinute the calls of the last minute; {@code null}: they are not counted
 * @param history the calls of each interval, if asked for
 * @param thisInstance what the calls of this instance hold and wait for; {@code null}: they do neither
 * @param byInstance the calls of the last minute on each instance, of a single limit
 * @param topKeys the keys that were rejected most in the last minutes, of a single limit; {@code null}: they are not counted
 */
public record LimitDescriptor(
        String algorithm,
        long capacity,
        @Nullable String rate,
        @Nullable Duration hold,
        @Nullable String zone,
        @Nullable String refill,
        Duration maxWait,
        List<Duration> blockFor,
        long lease,
        String scope,
        @Nullable String redis,
        boolean enabled,
        boolean dryRun,
        String onStoreFailure,
        Map<String, Origin> origins,
        @Nullable Map<String, @Nullable Object> override,
        @Nullable Map<String, PlanDescriptor> plans,
        @Nullable String pointcut,
        Map<String, ChargeDescription> methods,
        Map<String, ChargeDescription> requests,
        @Nullable CallCounts lastMinute,
        @Nullable CountSeries history,
        @Nullable Load thisInstance,
        @Nullable Map<String, CallCounts> byInstance,
        @Nullable List<KeyCount> topKeys)
        implements OperationResponseBody {

    /**
     * @param figures those of the limit are among them; {@code null}: none
     * @param single whether it is the only limit that is described
     */
    static LimitDescriptor of(
            RateLimitStatus status, Usage usage, Load load, @Nullable Figures figures, boolean single) {
        RateLimit limit = status.effective();
        return new LimitDescriptor(
                limit.algorithmName(),
                limit.capacity(),
                rateOf(limit),
                limit.hasRate() ? null : limit.hold(),
                !limit.hasRate() || limit.rate().calendarUnit() == null
                        ? null
                        : limit.zone().getId(),
                limit.hasRate() ? limit.refill().name() : null,
                limit.maxWait(),
                limit.blockFor(),
                limit.lease(),
                limit.scope().name(),
                limit.redis(),
                limit.enabled(),
                limit.dryRun(),
                limit.onStoreFailure().name(),
                new TreeMap<>(status.origins()),
                overrideOf(status),
                status.plans().isEmpty() ? null : plans(status),
                usage.pointcut(),
                usage.methods(),
                usage.requests(),
                figures == null ? null : figures.lastMinute(limit.id()),
                figures == null ? null : figures.history(limit.id()),
                load.concerns(limit) ? load : null,
                figures == null || !single ? null : figures.byInstance(limit.id()),
                figures == null ? null : figures.topKeys());
    }

    private static @Nullable String rateOf(RateLimit limit) {
        return limit.hasRate() ? limit.rate().toString() : null;
    }

    private static Map<String, PlanDescriptor> plans(RateLimitStatus status) {
        Map<String, PlanDescriptor> plans = new TreeMap<>();
        status.plans().forEach((name, plan) -> plans.put(name, PlanDescriptor.of(plan)));
        return plans;
    }

    /**
     * Describes a plan: what it may set, as it applies now.
     *
     * @param rate {@code null}: permits come back when calls end
     * @param origins where each attribute comes from
     * @param override {@code null}: none
     */
    public record PlanDescriptor(
            long capacity,
            @Nullable String rate,
            Duration maxWait,
            List<Duration> blockFor,
            boolean enabled,
            boolean dryRun,
            Map<String, Origin> origins,
            @Nullable Map<String, @Nullable Object> override) {

        static final Set<String> ATTRIBUTES = Set.of("capacity", "rate", "maxWait", "blockFor", "enabled", "dryRun");

        static PlanDescriptor of(RateLimitStatus status) {
            RateLimit plan = status.effective();
            Map<String, Origin> origins = new TreeMap<>(status.origins());
            origins.keySet().retainAll(ATTRIBUTES);
            return new PlanDescriptor(
                    plan.capacity(),
                    rateOf(plan),
                    plan.maxWait(),
                    plan.blockFor(),
                    plan.enabled(),
                    plan.dryRun(),
                    origins,
                    overrideOf(status));
        }
    }

    /**
     * Describes the calls of this instance that are under way.
     *
     * @param permitsInUse the permits that they hold, of all keys; {@code null}: the limit has a rate
     * @param waitingCalls how many wait for permits
     */
    public record Load(@Nullable Long permitsInUse, long waitingCalls) {

        public static Load of(RateLimit limit, long permitsInUse, long waitingCalls) {
            return new Load(limit.hasRate() ? null : permitsInUse, waitingCalls);
        }

        /** Returns whether calls of the limit hold permits or wait. */
        private boolean concerns(RateLimit limit) {
            return permitsInUse != null || waitingCalls > 0 || !limit.maxWait().isZero();
        }
    }

    /** Where a limit applies; as in {@link LimitDescriptor}. */
    public record Usage(
            @Nullable String pointcut,
            Map<String, ChargeDescription> methods,
            Map<String, ChargeDescription> requests) {}

    /** Describes an override: the attributes that it sets, by their names, and how it is stored. */
    private static @Nullable Map<String, @Nullable Object> overrideOf(RateLimitStatus status) {
        ActiveOverride stored = status.override();
        if (stored == null) {
            return null;
        }
        Map<String, @Nullable Object> shown = new LinkedHashMap<>();
        AttributeValues set = LimitAttributes.of(stored.attributes());
        LimitAttributes.changeable().forEach(row -> shown.put(row.name(), set.get(row)));
        shown.put("version", stored.version());
        shown.put("until", stored.until());
        shown.put("principal", stored.principal());
        shown.put("problem", stored.problem());
        shown.values().removeIf(Objects::isNull);
        return shown;
    }
}
