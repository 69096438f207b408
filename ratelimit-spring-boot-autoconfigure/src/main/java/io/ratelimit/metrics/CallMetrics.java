package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitListener;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** Counts {@code ratelimit.calls} by limit and outcome. */
public final class CallMetrics implements RateLimitListener {

    private final MeterRegistry registry;

    /** By the id of the limit, whose numbers can change. */
    private final Map<String, Map<Outcome, Counter>> counters = new ConcurrentHashMap<>();

    public CallMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void onLimit(RateLimit limit) {
        counters(limit);
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        Objects.requireNonNull(counters(charge.limit()).get(outcome)).increment();
    }

    private Map<Outcome, Counter> counters(RateLimit limit) {
        Map<Outcome, Counter> known = counters.get(limit.id());
        return known != null ? known : counters.computeIfAbsent(limit.id(), id -> register(limit));
    }

    private Map<Outcome, Counter> register(RateLimit limit) {
        Map<Outcome, Counter> registered = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            registered.put(
                    outcome,
                    Counter.builder("ratelimit.calls")
                            .description("Calls that a rate limit has decided about")
                            .tag("limit", limit.name())
                            .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        return registered;
    }
}
