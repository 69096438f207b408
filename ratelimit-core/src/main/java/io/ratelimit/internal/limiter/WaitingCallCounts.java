package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the calls of this instance that wait for reserved permits, by limit. */
final class WaitingCallCounts {

    /** By the id of the limit. */
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    /** Returns what must be called once when the wait is over. */
    Runnable begin(RateLimit limit, CallObserver observer) {
        Runnable observed = observer.onWait(limit);
        LongAdder count = counts.computeIfAbsent(limit.id(), first -> new LongAdder());
        count.increment();
        return () -> {
            count.decrement();
            observed.run();
        };
    }

    long of(RateLimit limit) {
        LongAdder count = counts.get(limit.id());
        return count == null ? 0 : count.sum();
    }
}
