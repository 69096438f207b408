package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What limits have said during one request, each once. Any thread may add to it. */
public final class QuotaStatuses {

    private final Map<RateLimit, QuotaStatus> standings = new LinkedHashMap<>(4);

    private boolean news;

    /** Limits in dry run are not for callers to see. */
    public synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        for (int i = 0; i < charges.size(); i++) {
            RateLimit limit = charges.get(i).limit();
            if (!limit.dryRun()) {
                standings.merge(limit, new QuotaStatus(limit, decisions.get(i)), QuotaStatus::orTighter);
                news = true;
            }
        }
    }

    /** What a rejection says of its limit, unless that is known: it may come from where no request is. */
    public synchronized void addIfUnknown(QuotaStatus standing) {
        String name = standing.limit().name();
        if (standings.keySet().stream().noneMatch(limit -> limit.name().equals(name))) {
            standings.put(standing.limit(), standing);
            news = true;
        }
    }

    /** All of them, in the order in which the limits were first asked. */
    public synchronized List<QuotaStatus> all() {
        return List.copyOf(standings.values());
    }

    /** All of them, if something was added since the last time; otherwise none. */
    public synchronized List<QuotaStatus> news() {
        if (!news) {
            return List.of();
        }
        news = false;
        return all();
    }
}
