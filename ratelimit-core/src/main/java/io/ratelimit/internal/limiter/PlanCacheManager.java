package io.ratelimit.internal.limiter;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.RateLimitPlanResolver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Holds the plans that beans have found: a cache for each limit and bean, whatever the limit applies to. */
public final class PlanCacheManager {

    private static final int MOST_KEYS = 100_000;

    private static final int THREADS = 16;

    /** How many questions wait for a thread. Further ones fail, as if the bean did. */
    private static final int WAITING = 10_000;

    /** The time after which the plan of a key is asked for again. */
    final Duration fresh;

    /** The longest time that a call waits for a plan that is not known. */
    final Duration timeout;

    /** How many keys of each limit have their plan kept. */
    final int mostKeys;

    /** Has threads that may block. */
    final Executor executor;

    /** A monotonic clock. */
    final LongSupplier nanos;

    private final Map<String, PlanCache> caches = new ConcurrentHashMap<>();

    public PlanCacheManager(Duration fresh, Duration timeout) {
        this(fresh, timeout, MOST_KEYS, DaemonThreads.create("ratelimit-plans", THREADS, WAITING), System::nanoTime);
    }

    PlanCacheManager(Duration fresh, Duration timeout, int mostKeys, Executor executor, LongSupplier nanos) {
        this.fresh = fresh;
        this.timeout = timeout;
        this.mostKeys = mostKeys;
        this.executor = executor;
        this.nanos = nanos;
    }

    /**
     * Returns the plans of a limit.
     *
     * @param bean the name of the resolver
     */
    public PlanCache of(String limit, String bean, Supplier<RateLimitPlanResolver> resolver) {
        return caches.computeIfAbsent(
                LimitNames.canonical(limit) + "/" + bean, unknown -> new PlanCache(this, limit, resolver));
    }
}
