package io.ratelimit.internal.statistics;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Counts the calls of each limit, by the id of the limit, whose numbers can change. */
final class CallCounting implements RateLimitListener {

    private final Map<String, CallCounter> limits = new ConcurrentHashMap<>();

    /** {@code null}: keys are not counted. */
    private final @Nullable UnaryOperator<String> keyNames;

    private final LongSupplier nanos;

    /**
     * @param keyNames returns how a key is called; {@code null}: keys are not counted
     * @param nanos the monotonic clock
     */
    CallCounting(@Nullable UnaryOperator<String> keyNames, LongSupplier nanos) {
        this.keyNames = keyNames;
        this.nanos = nanos;
    }

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
        RejectedKeys keys = counter.keys;
        if (outcome != Outcome.ALLOWED && keys != null && keyNames != null && charge.key() != null) {
            keys.add(keyNames.apply(charge.key()));
        }
    }

    @Override
    public void onRefusal(Charge charge, RateLimitStoreException failure) {
        counter(charge.limit()).refused.increment();
    }

    private CallCounter counter(RateLimit limit) {
        CallCounter known = limits.get(limit.id());
        return known != null
                ? known
                : limits.computeIfAbsent(
                        limit.id(), first -> new CallCounter(keyNames == null ? null : new RejectedKeys(nanos)));
    }

    /** Returns what was counted since the last time, of each limit with a call. Called by one thread at a time. */
    Map<String, CallCounts> takeNew() {
        Map<String, CallCounts> counts = new HashMap<>();
        limits.forEach((limit, counter) -> counts.put(limit, counter.takeNew()));
        counts.values().removeIf(CallCounts.NONE::equals);
        return counts;
    }

    /** Returns whether rejected keys are counted. */
    boolean countsKeys() {
        return keyNames != null;
    }

    /** Returns the keys that a limit has rejected most. */
    KeyReport keys(String limit) {
        CallCounter counter = limits.get(limit);
        return counter == null || counter.keys == null ? KeyReport.NONE : counter.keys.report();
    }

    /** Passes on the keys of each limit that has rejected some. */
    void eachKeys(BiConsumer<String, RejectedKeys> receiver) {
        limits.forEach((limit, counter) -> {
            if (counter.keys != null) {
                receiver.accept(limit, counter.keys);
            }
        });
    }
}
