package io.ratelimit.standalone;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.CompositeRateLimitListener;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import java.util.List;

/**
 * Creates registries of limits for applications without Spring Boot. There, limits are declared in code only, and calls are limited
 * by {@link io.ratelimit.RateLimiter}.
 *
 * <pre>{@code
 * RateLimiterRegistry limits =
 *         RateLimiters.inMemory(RateLimit.named("quotes").capacity(20).rate("10/s").build());
 * if (limits.get("quotes").tryAcquire("alice").allowed()) { … }
 * }</pre>
 */
public final class RateLimiters {

    /** As {@code ratelimit.in-memory.max-keys}. */
    private static final long MOST_BUCKETS = 100_000;

    private RateLimiters() {}

    /**
     * Creates a registry that counts in the memory of this JVM, in at most 100,000 buckets.
     *
     * @throws RateLimitConfigurationException if two limits have the same name
     */
    public static RateLimiterRegistry inMemory(RateLimit... limits) {
        return over(new InMemoryRateLimitStore(TimeSource.monotonic(), MOST_BUCKETS), limits);
    }

    /**
     * Creates a registry that counts in a store.
     *
     * @throws RateLimitConfigurationException if two limits have the same name
     */
    public static RateLimiterRegistry over(RateLimitStore store, RateLimit... limits) {
        LimitCatalog catalog = new LimitCatalog(RateLimitSettings.NONE, null, () -> false);
        for (int i = 0; i < limits.length; i++) {
            catalog.declare(limits[i], "limit " + (i + 1));
        }
        return new CatalogRateLimiterRegistry(
                catalog, new RateLimitGate(store, new CompositeRateLimitListener(List.of()), Waiter.parking()));
    }
}
