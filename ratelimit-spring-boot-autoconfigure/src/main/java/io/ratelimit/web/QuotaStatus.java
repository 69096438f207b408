package io.ratelimit.web;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.time.Duration;
import java.util.Comparator;

/** A caller's quota under a limit, by the last decision or the tightest one. */
public record QuotaStatus(RateLimit limit, RateLimitDecision decision) {

    /** Orders rejections before allowances, then by the fewest permits left, then by the longest wait. */
    static final Comparator<QuotaStatus> TIGHTEST_FIRST = Comparator.<QuotaStatus, Boolean>comparing(
                    status -> status.decision.allowed())
            .thenComparingLong(status -> status.decision.remaining())
            .thenComparing(Comparator.comparing(QuotaStatus::window).reversed());

    /** Returns the tighter of the two; if they are equally tight, the later. */
    QuotaStatus orTighter(QuotaStatus later) {
        return TIGHTEST_FIRST.compare(this, later) < 0 ? this : later;
    }

    /** Returns the time during which only what remains can be used: until a rejected call can succeed, or the reset. */
    Duration window() {
        Duration retryAfter = decision.retryAfter();
        return decision.allowed() || retryAfter == null ? decision.resetAfter() : retryAfter;
    }
}
