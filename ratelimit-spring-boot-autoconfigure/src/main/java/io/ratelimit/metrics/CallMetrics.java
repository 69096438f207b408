package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitListener;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.limiter.CallObserver;
import io.ratelimit.limiter.EffectiveLimit;
import io.ratelimit.limiter.LimitCatalog;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The meters of each limit: {@code ratelimit.calls} by outcome, {@code ratelimit.wait}, and gauges. */
public final class CallMetrics implements RateLimitListener, CallObserver {

    private final ContextMeters meters;

    private final LimitCatalog catalog;

    private final List<LimitGauge> gauges;

    /** By the id of the limit, whose numbers can change. */
    private final Map<String, LimitMeters> limits = new ConcurrentHashMap<>();

    public CallMetrics(ContextMeters meters, LimitCatalog catalog, List<LimitGauge> gauges) {
        this.meters = meters;
        this.catalog = catalog;
        this.gauges = gauges;
    }

    @Override
    public void onLimit(RateLimit limit) {
        of(limit);
        // Not within the map: the catalog has a lock.
        catalog.effective(limit.name()).ifPresent(effective -> gauges.forEach(gauge -> register(gauge, effective)));
    }

    private void register(LimitGauge gauge, EffectiveLimit limit) {
        meters.gauge(
                gauge.name(),
                gauge.baseUnit(),
                gauge.description(),
                tags(limit.get()),
                () -> gauge.value().applyAsDouble(limit));
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        of(charge.limit()).counter(outcome).increment();
    }

    @Override
    public void onRefusal(Charge charge, RateLimitStoreException failure) {
        of(charge.limit()).refused.increment();
    }

    @Override
    public Runnable onWait(RateLimit limit) {
        Timer wait = of(limit).waiting;
        long start = meters.nanos();
        return () -> wait.record(meters.nanos() - start, TimeUnit.NANOSECONDS);
    }

    private LimitMeters of(RateLimit limit) {
        LimitMeters known = limits.get(limit.id());
        return known != null ? known : limits.computeIfAbsent(limit.id(), id -> register(limit));
    }

    private LimitMeters register(RateLimit limit) {
        return new LimitMeters(
                calls(limit, "allowed"),
                calls(limit, "rejected"),
                calls(limit, "dry_run_rejected"),
                calls(limit, "refused"),
                meters.timer("ratelimit.wait", "Time that calls have waited for permits", tags(limit)));
    }

    private static Tags tags(RateLimit limit) {
        return Tags.of("limit", limit.name());
    }

    private Counter calls(RateLimit limit, String outcome) {
        return meters.counter(
                "ratelimit.calls",
                "calls",
                "Calls that a rate limit has decided about or refused",
                tags(limit).and("outcome", outcome));
    }

    private record LimitMeters(
            Counter allowed, Counter rejected, Counter dryRunRejected, Counter refused, Timer waiting) {

        Counter counter(Outcome outcome) {
            return switch (outcome) {
                case ALLOWED -> allowed;
                case REJECTED -> rejected;
                case DRY_RUN_REJECTED -> dryRunRejected;
            };
        }
    }
}
