package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.DelegatingRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Measures the decisions of a store as {@code ratelimit.store}, by store and outcome. */
public final class TimedRateLimitStore extends DelegatingRateLimitStore {

    private static final System.Logger logger = System.getLogger("io.ratelimit.metrics");

    private final Timer success;

    private final Timer timeout;

    private final Timer stalled;

    private final Timer error;

    private final Timer shortCircuited;

    /** Empty if the store cannot fail. */
    private final Map<Reason, Counter> failures = new EnumMap<>(Reason.class);

    private final AtomicBoolean warned = new AtomicBoolean();

    /** @param name {@code redis} or {@code in_memory} */
    public TimedRateLimitStore(RateLimitStore store, String name, MeterRegistry registry) {
        super(store);
        this.success = timer(registry, name, "success");
        this.timeout = timer(registry, name, "timeout");
        this.stalled = timer(registry, name, "stalled");
        this.error = timer(registry, name, "error");
        this.shortCircuited = timer(registry, name, "short_circuited");
        if (!store.isNonBlocking()) {
            for (Reason reason : Reason.values()) {
                failures.put(reason, counter(registry, name, reason));
            }
        }
    }

    private static Timer timer(MeterRegistry registry, String store, String outcome) {
        return Timer.builder("ratelimit.store")
                .description("Decisions that a rate limit store was asked for")
                .tag("store", store)
                .tag("outcome", outcome)
                .register(registry);
    }

    private static Counter counter(MeterRegistry registry, String store, Reason reason) {
        return Counter.builder("ratelimit.store.failures")
                .description("Decisions that a rate limit store has failed to make")
                .tag("store", store)
                .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                .register(registry);
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
            if (thrown == null) {
                success.record(nanos, TimeUnit.NANOSECONDS);
            } else {
                failed(reason(thrown), nanos);
            }
        } catch (RuntimeException ex) {
            if (warned.compareAndSet(false, true)) {
                logger.log(Level.WARNING, "A meter failed; its further failures are not logged", ex);
            }
        }
    }

    private void failed(Reason reason, long nanos) {
        Timer outcome = switch (reason) {
            case TIMEOUT -> timeout;
            case STALLED -> stalled;
            case SHORT_CIRCUITED -> shortCircuited;
            default -> error;
        };
        outcome.record(nanos, TimeUnit.NANOSECONDS);
        Counter failed = failures.get(reason);
        if (failed != null) {
            failed.increment();
        }
    }

    private static Reason reason(Throwable thrown) {
        return Futures.unwrap(thrown) instanceof RateLimitStoreException failure ? failure.getReason() : Reason.ERROR;
    }
}
