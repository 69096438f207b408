package io.ratelimit.metrics;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Measures the decisions of a store as {@code ratelimit.store}, by store and outcome, and by server if there are several. */
final class TimedRateLimitStore extends DelegatingRateLimitStore {

    private final ContextMeters meters;

    private final Timer success;

    private final Map<Reason, Timer> failures = new EnumMap<>(Reason.class);

    /** @param tags of the store */
    TimedRateLimitStore(RateLimitStore store, Tags tags, ContextMeters meters) {
        super(store);
        this.meters = meters;
        this.success = timer(tags, "success");
        Timer error = timer(tags, "error");
        Stream.of(Reason.values()).forEach(reason -> failures.put(reason, error));
        failures.put(Reason.TIMEOUT, timer(tags, "timeout"));
        failures.put(Reason.STALLED, timer(tags, "stalled"));
        failures.put(Reason.SHORT_CIRCUITED, timer(tags, "short_circuited"));
    }

    private Timer timer(Tags tags, String outcome) {
        return meters.timer(
                "ratelimit.store", "Decisions that a rate limit store was asked for", tags.and("outcome", outcome));
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (request.isPeek()) {
            return store().decide(request);
        }
        long start = System.nanoTime();
        StoreAnswer answer;
        try {
            // Reading the clock takes longer than the rest of a decision in memory: once for both.
            answer = request instanceof Charge charge && store() instanceof InMemoryRateLimitStore memory
                    ? memory.decide(charge, start)
                    : store().decide(request);
        } catch (RuntimeException ex) {
            record(start, ex);
            throw ex;
        }
        if (answer instanceof StoreOutcome outcome) {
            record(start, null);
            return outcome;
        }
        return answer.handle((outcome, thrown) -> {
            record(start, thrown);
            if (outcome == null) {
                throw Futures.unchecked(thrown);
            }
            return outcome;
        });
    }

    private void record(long start, @Nullable Throwable thrown) {
        long nanos = System.nanoTime() - start;
        try {
            Timer timer = thrown == null ? success : Objects.requireNonNull(failures.get(reason(thrown)));
            timer.record(nanos, TimeUnit.NANOSECONDS);
        } catch (RuntimeException ex) {
            meters.failed(ex);
        }
    }

    private static Reason reason(Throwable thrown) {
        return Futures.unwrap(thrown) instanceof RateLimitStoreException failure ? failure.getReason() : Reason.ERROR;
    }
}
