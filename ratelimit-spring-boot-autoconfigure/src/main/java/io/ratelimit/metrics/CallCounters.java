package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitListener.Outcome;
import java.util.Locale;

/** The counters of one limit. */
record CallCounters(Counter allowed, Counter rejected, Counter dryRunRejected) {

    static CallCounters register(RateLimit limit, MeterRegistry registry) {
        return new CallCounters(
                register(limit, Outcome.ALLOWED, registry),
                register(limit, Outcome.REJECTED, registry),
                register(limit, Outcome.DRY_RUN_REJECTED, registry));
    }

    private static Counter register(RateLimit limit, Outcome outcome, MeterRegistry registry) {
        return Counter.builder("ratelimit.calls")
                .description("Calls that a rate limit has decided about")
                .tag("limit", limit.name())
                .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                .register(registry);
    }

    Counter of(Outcome outcome) {
        return switch (outcome) {
            case ALLOWED -> allowed;
            case REJECTED -> rejected;
            case DRY_RUN_REJECTED -> dryRunRejected;
        };
    }
}
