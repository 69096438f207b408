package io.ratelimit.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts {@code ratelimit.calls} by limit and outcome. */
public final class CallMetrics implements RateLimitListener {

    private final MeterRegistry registry;

    private final Map<RateLimit, CallCounters> counters = new ConcurrentHashMap<>();

    public CallMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void onLimit(RateLimit limit) {
        of(limit);
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        of(charge.limit()).of(outcome).increment();
    }

    private CallCounters of(RateLimit limit) {
        CallCounters known = counters.get(limit);
        return known != null
                ? known
                : counters.computeIfAbsent(limit, unknown -> CallCounters.register(unknown, registry));
    }
}
