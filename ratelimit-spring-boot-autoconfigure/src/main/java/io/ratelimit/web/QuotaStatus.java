package io.ratelimit.web;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.time.Duration;
import java.util.Comparator;

/** How a caller stands with a limit: what it has said last, or what it has said worst. */
public record QuotaStatus(RateLimit limit, RateLimitDecision decision) {

    /** A rejection before an allowance, the fewest permits left, the longest wait. */
    static final Comparator<QuotaStatus> TIGHTEST_FIRST = Comparator.<QuotaStatus, Boolean>comparing(
                    standing -> standing.decision.allowed())
            .thenComparingLong(standing -> standing.decision.remaining())
            .thenComparing(Comparator.comparing(QuotaStatus::window).reversed());

    /** The tighter of the two; of equals the later. */
    QuotaStatus orTighter(QuotaStatus later) {
        return TIGHTEST_FIRST.compare(this, later) < 0 ? this : later;
    }

    /** The seconds within which no more than what remains can be used: until a rejected call can succeed, or all is back. */
    long seconds() {
        return WholeSeconds.of(window());
    }

    private Duration window() {
        Duration retryAfter = decision.retryAfter();
        return decision.allowed() || retryAfter == null ? decision.resetAfter() : retryAfter;
    }
}
