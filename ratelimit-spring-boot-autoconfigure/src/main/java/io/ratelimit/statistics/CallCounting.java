package io.ratelimit.statistics;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitListener;
import io.ratelimit.RateLimitStoreException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** Counts the calls of each limit, by the id of the limit, whose numbers can change. */
final class CallCounting implements RateLimitListener {

    private final Map<String, CallCounter> limits = new ConcurrentHashMap<>();

    @Override
    public void onLimit(RateLimit limit) {
        counter(limit);
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        CallCounter counter = counter(charge.limit());
        switch (outcome) {
            case ALLOWED -> counter.allowed.increment();
            case REJECTED -> counter.rejected.increment();
            case DRY_RUN_REJECTED -> counter.dryRunRejected.increment();
        }
    }

    @Override
    public void onRefusal(Charge charge, RateLimitStoreException failure) {
        counter(charge.limit()).refused.increment();
    }

    private CallCounter counter(RateLimit limit) {
        CallCounter known = limits.get(limit.id());
        return known != null ? known : limits.computeIfAbsent(limit.id(), first -> new CallCounter());
    }

    /** Passes on what was counted since the last time, of each limit with a call. Called by one thread at a time. */
    void takeNew(BiConsumer<String, CallCounts> receiver) {
        limits.forEach((limit, counter) -> {
            CallCounts counts = counter.takeNew();
            if (!counts.equals(CallCounts.NONE)) {
                receiver.accept(limit, counts);
            }
        });
    }

    /** Returns the ids of the limits. */
    Iterable<String> limits() {
        return limits.keySet();
    }
}
