package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects the quota status of each limit during one request. Thread-safe. */
public final class QuotaStatuses {

    private final Map<RateLimit, QuotaStatus> statuses = new LinkedHashMap<>(4);

    private boolean changed;

    /** Adds what limits have decided. Callers do not see limits in dry run. */
    public synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        for (int i = 0; i < charges.size(); i++) {
            RateLimit limit = charges.get(i).limit();
            if (!limit.dryRun()) {
                statuses.merge(limit, new QuotaStatus(limit, decisions.get(i)), QuotaStatus::orTighter);
                changed = true;
            }
        }
    }

    /** Adds what a rejection knows of its limit, which may have decided outside of the request. */
    public synchronized void addIfAbsent(QuotaStatus status) {
        String name = status.limit().name();
        if (statuses.keySet().stream().noneMatch(limit -> limit.name().equals(name))) {
            statuses.put(status.limit(), status);
            changed = true;
        }
    }

    /** Returns all statuses, in the order of the limits' first decisions. */
    public synchronized List<QuotaStatus> all() {
        return List.copyOf(statuses.values());
    }

    /** Returns all statuses if one was added since the last call; otherwise none. */
    public synchronized List<QuotaStatus> allIfChanged() {
        if (!changed) {
            return List.of();
        }
        changed = false;
        return all();
    }
}
