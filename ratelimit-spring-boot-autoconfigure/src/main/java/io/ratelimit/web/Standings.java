package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What limits have said during one request, each once. Any thread may add to it. */
final class Standings {

    private final Map<RateLimit, Standing> standings = new LinkedHashMap<>(4);

    private boolean news;

    /** Limits in dry run are not for callers to see. */
    synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        for (int i = 0; i < charges.size(); i++) {
            RateLimit limit = charges.get(i).limit();
            if (!limit.dryRun()) {
                standings.merge(limit, new Standing(limit, decisions.get(i)), Standing::orTighter);
                news = true;
            }
        }
    }

    /** What a rejection says of its limit, unless that is known: it may come from where no request is. */
    synchronized void addIfUnknown(Standing standing) {
        String name = standing.limit().name();
        if (standings.keySet().stream().noneMatch(limit -> limit.name().equals(name))) {
            standings.put(standing.limit(), standing);
            news = true;
        }
    }

    /** All of them, in the order in which the limits were first asked. */
    synchronized List<Standing> all() {
        return List.copyOf(standings.values());
    }

    /** All of them, if something was added since the last time; otherwise none. */
    synchronized List<Standing> news() {
        if (!news) {
            return List.of();
        }
        news = false;
        return all();
    }
}
