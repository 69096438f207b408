package io.ratelimit.metrics;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Measures the decisions of a store as {@code ratelimit.store}, by store and outcome, and by server if there are several. */
final class TimedRateLimitStore extends DelegatingRateLimitStore {

    private final ContextMeters meters;

    private final Timer success;

    private final Timer timeout;

    private final Timer stalled;

    private final Timer error;

    private final Timer shortCircuited;

    /** @param tags of the store */
    TimedRateLimitStore(RateLimitStore store, Tags tags, ContextMeters meters) {
        super(store);
        this.meters = meters;
        this.success = timer(tags, "success");
        this.timeout = timer(tags, "timeout");
        this.stalled = timer(tags, "stalled");
        this.error = timer(tags, "error");
        this.shortCircuited = timer(tags, "short_circuited");
    }

    private Timer timer(Tags tags, String outcome) {
        return meters.timer(
                "ratelimit.store", "Decisions that a rate limit store was asked for", tags.and("outcome", outcome));
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        long start = System.nanoTime();
        StoreOutcome outcome;
        try {
            outcome = super.decide(request);
        } catch (RuntimeException ex) {
            record(start, ex);
            throw ex;
        }
        record(start, null);
        return outcome;
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        long start = System.nanoTime();
        RateLimitDecision decision;
        try {
            decision = store().decide(charge);
        } catch (RuntimeException ex) {
            record(start, ex);
            throw ex;
        }
        record(start, null);
        return decision;
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        long start = System.nanoTime();
        return super.decideAsync(request).whenComplete((outcome, thrown) -> record(start, thrown));
    }

    private void record(long start, @Nullable Throwable thrown) {
        long nanos = System.nanoTime() - start;
        try {
            timer(thrown).record(nanos, TimeUnit.NANOSECONDS);
        } catch (RuntimeException ex) {
            meters.warn(ex);
        }
    }

    private Timer timer(@Nullable Throwable thrown) {
        if (thrown == null) {
            return success;
        }
        return switch (reason(thrown)) {
            case TIMEOUT -> timeout;
            case STALLED -> stalled;
            case SHORT_CIRCUITED -> shortCircuited;
            default -> error;
        };
    }

    private static Reason reason(Throwable thrown) {
        return Futures.unwrap(thrown) instanceof RateLimitStoreException failure ? failure.getReason() : Reason.ERROR;
    }
}
