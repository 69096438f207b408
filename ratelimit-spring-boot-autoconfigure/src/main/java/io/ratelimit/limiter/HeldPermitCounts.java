package io.ratelimit.limiter;

import io.ratelimit.RateLimit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the permits that calls of this instance hold, by limit, for the meter {@code ratelimit.concurrency} and the endpoint. */
public final class HeldPermitCounts {

    /** By the id of the limit. */
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    void add(RateLimit limit, long permits) {
        counts.computeIfAbsent(limit.id(), first -> new LongAdder()).add(permits);
    }

    /** Returns how many permits of the limit calls of this instance hold, of all keys together. */
    public long of(RateLimit limit) {
        LongAdder count = counts.get(limit.id());
        return count == null ? 0 : count.sum();
    }
}
