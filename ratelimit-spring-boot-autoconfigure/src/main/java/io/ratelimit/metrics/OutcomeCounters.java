package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.ratelimit.spi.RateLimitListener.Outcome;

/** The counters {@code ratelimit.calls} of a limit, or of one of its plans, by outcome. */
record OutcomeCounters(Counter allowed, Counter rejected, Counter dryRunRejected, Counter refused) {

    Counter of(Outcome outcome) {
        return switch (outcome) {
            case ALLOWED -> allowed;
            case REJECTED -> rejected;
            case DRY_RUN_REJECTED -> dryRunRejected;
        };
    }
}
