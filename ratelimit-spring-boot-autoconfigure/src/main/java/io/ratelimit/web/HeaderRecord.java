package io.ratelimit.web;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** Records what limits have decided during one request, for the headers of its response. Thread-safe. */
public class HeaderRecord {

    /** By the name of the limit, whose numbers can change during a request. */
    private final Map<String, QuotaStatus> statuses = new LinkedHashMap<>(4);

    private boolean changed;

    /** Adds what limits have decided. Callers do not see limits in dry run, nor one that was disabled while they waited. */
    public synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        for (int i = 0; i < charges.size(); i++) {
            RateLimit limit = charges.get(i).limit();
            if (limit.enabled() && !limit.dryRun()) {
                statuses.merge(limit.name(), new QuotaStatus(limit, decisions.get(i)), QuotaStatus::orTighter);
                changed = true;
            }
        }
    }

    /** Adds what a rejection knows of its limit, which may have decided outside of the request. */
    public void addIfTighter(RuntimeException exception, WebSettings settings) {
        if (exception instanceof RateLimitExceededException rejection) {
            settings.quotaStatus(rejection).ifPresent(this::addIfTighter);
        }
    }

    /** What was recorded of the same decision stays: it knows the plan. */
    private synchronized void addIfTighter(QuotaStatus status) {
        QuotaStatus tighter = statuses.merge(status.limit().name(), status, (known, later) -> later.orTighter(known));
        changed |= status.equals(tighter);
    }

    /**
     * Writes the quota headers if there are new statuses, and {@code Retry-After} to a rejection that has none.
     *
     * @param lacksRetryAfter whether the response is a rejection without {@code Retry-After}
     * @param response sets a header, and replaces its value
     */
    public void write(RateLimitHeaders headers, boolean lacksRetryAfter, BiConsumer<String, String> response) {
        headers.write(allIfChanged(), response);
        String retryAfter = lacksRetryAfter ? retryAfter() : null;
        if (retryAfter != null) {
            response.accept(HttpHeaders.RETRY_AFTER, retryAfter);
        }
    }

    /** Lets all statuses be written again, after the response was reset. */
    public synchronized void rewrite() {
        changed = true;
    }

    /** Returns all statuses, in the order of the limits' first decisions. */
    synchronized List<QuotaStatus> all() {
        return List.copyOf(statuses.values());
    }

    /** Returns all statuses if one was added since the last call; otherwise none. */
    synchronized List<QuotaStatus> allIfChanged() {
        if (!changed) {
            return List.of();
        }
        changed = false;
        return all();
    }

    /** Returns the longest time of all rejections; {@code null} without a rejection, or if the call can never succeed. */
    synchronized @Nullable String retryAfter() {
        Duration longest = null;
        for (QuotaStatus status : statuses.values()) {
            RateLimitDecision decision = status.decision();
            if (!decision.allowed()) {
                Duration retryAfter = decision.retryAfter();
                if (retryAfter == null) {
                    return null;
                }
                longest = longest == null || retryAfter.compareTo(longest) > 0 ? retryAfter : longest;
            }
        }
        return longest == null ? null : RateLimitHeaders.retryAfter(longest);
    }
}
