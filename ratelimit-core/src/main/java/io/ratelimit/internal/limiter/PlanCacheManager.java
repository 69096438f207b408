package io.ratelimit.internal.limiter;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.RateLimitPlanResolver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Holds the plans that beans have found: a cache for each limit and bean, whatever the limit applies to. */
public final class PlanCacheManager {

    private static final int THREADS = 16;

    /** How many questions wait for a thread. Further ones fail, as if the bean did. */
    private static final int WAITING = 10_000;

    private final PlanSettings settings;

    private final Executor executor;

    private final LongSupplier nanos;

    private final Map<String, PlanCache> caches = new ConcurrentHashMap<>();

    public PlanCacheManager(PlanSettings settings) {
        this(settings, DaemonThreads.create("ratelimit-plans", THREADS, WAITING), System::nanoTime);
    }

    PlanCacheManager(PlanSettings settings, Executor executor, LongSupplier nanos) {
        this.settings = settings;
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
                LimitNames.canonical(limit) + "/" + bean,
                unknown -> new PlanCache(limit, resolver, settings, executor, nanos));
    }
}
