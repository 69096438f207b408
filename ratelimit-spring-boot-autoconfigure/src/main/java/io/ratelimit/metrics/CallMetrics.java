package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The meters of each limit: {@code ratelimit.calls} by outcome, {@code ratelimit.wait}, {@code ratelimit.settlements.lost}, and gauges. */
public final class CallMetrics implements RateLimitListener, CallObserver {

    private final ContextMeters meters;

    private final LimitCatalog catalog;

    private final @Nullable ToDoubleFunction<EffectiveLimit> leased;

    private final ToDoubleFunction<EffectiveLimit> held;

    private final boolean planTag;

    /** By the id of the limit, whose numbers can change. */
    private final Map<String, LimitMeters> limits = new ConcurrentHashMap<>();

    /**
     * Creates the meters.
     *
     * @param leased returns the permits that this instance has leased and not handed out; {@code null}: permits are not leased
     * @param held returns the permits that calls of this instance hold
     * @param planTag whether calls are counted by plan, too
     */
    public CallMetrics(
            ContextMeters meters,
            LimitCatalog catalog,
            @Nullable ToDoubleFunction<EffectiveLimit> leased,
            ToDoubleFunction<EffectiveLimit> held,
            boolean planTag) {
        this.meters = meters;
        this.catalog = catalog;
        this.leased = leased;
        this.held = held;
        this.planTag = planTag;
    }

    @Override
    public void onLimit(RateLimit limit) {
        of(limit);
        // Not within the map: the catalog has a lock.
        catalog.effective(limit.name()).ifPresent(effective -> {
            registerGauges(effective);
            // A refresh may turn it into a concurrency limit.
            effective.addListener(catalog, () -> registerGauges(effective));
        });
    }

    private void registerGauges(EffectiveLimit limit) {
        gauge(
                limit,
                "ratelimit.capacity",
                "Capacity of a limit that applies now",
                now -> now.get().capacity());
        if (leased != null) {
            gauge(limit, "ratelimit.leased", "Permits that this instance has leased and not handed out", leased);
        }
        if (!limit.get().hasRate()) {
            gauge(limit, "ratelimit.concurrency", "Permits that calls of this instance hold", held);
        }
    }

    private void gauge(EffectiveLimit limit, String name, String description, ToDoubleFunction<EffectiveLimit> value) {
        meters.gauge(name, "permits", description, tags(limit.get()), () -> value.applyAsDouble(limit));
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        calls(charge.limit()).of(outcome).increment();
    }

    @Override
    public void onRefusal(Charge charge, RateLimitStoreException failure) {
        calls(charge.limit()).refused().increment();
    }

    private OutcomeCounters calls(RateLimit limit) {
        return of(limit).calls.of(planTag ? limit.plan() : null);
    }

    @Override
    public Runnable onWait(RateLimit limit) {
        Timer wait = of(limit).waiting;
        long start = meters.nanos();
        return () -> wait.record(meters.nanos() - start, TimeUnit.NANOSECONDS);
    }

    @Override
    public void onLostSettlement(RateLimit limit) {
        meters.increment(of(limit).lostSettlements, 1);
    }

    private LimitMeters of(RateLimit limit) {
        LimitMeters known = limits.get(limit.id());
        return known != null ? known : limits.computeIfAbsent(limit.id(), id -> register(limit));
    }

    private LimitMeters register(RateLimit limit) {
        Tags tags = tags(limit);
        return new LimitMeters(
                new PlanCalls(
                        plan -> calls(planTag ? tags.and("plan", plan) : tags),
                        planTag ? limit.plans().keySet() : Set.of()),
                meters.timer("ratelimit.wait", "Time that calls have waited for permits", tags),
                meters.counter(
                        "ratelimit.settlements.lost",
                        null,
                        "Refunds and actual costs that were not charged to the limit, or may not have been",
                        tags));
    }

    private static Tags tags(RateLimit limit) {
        return Tags.of("limit", limit.name());
    }

    private OutcomeCounters calls(Tags tags) {
        return new OutcomeCounters(
                calls(tags, "allowed"),
                calls(tags, "rejected"),
                calls(tags, "dry_run_rejected"),
                calls(tags, "refused"));
    }

    private Counter calls(Tags tags, String outcome) {
        return meters.counter(
                "ratelimit.calls",
                "calls",
                "Calls that a rate limit has decided about or refused",
                tags.and("outcome", outcome));
    }

    private record LimitMeters(PlanCalls calls, Timer waiting, Counter lostSettlements) {}
}
