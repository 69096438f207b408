package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.spi.RateLimitStore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The meters of stores.
 *
 * @param lostSettlements counts a settlement of the limit that was lost
 */
public record StoreMeters(ContextMeters meters, Consumer<RateLimit> lostSettlements) implements StoreInstrumentation {

    /** The tag with the name of a server. */
    private static final String REDIS = "redis";

    /** Measures {@code ratelimit.store}. */
    @Override
    public RateLimitStore timed(RateLimitStore store, String name, @Nullable String redis) {
        Tags tags = Tags.of("store", name);
        return new TimedRateLimitStore(store, redis == null ? tags : tags.and(REDIS, redis), meters);
    }

    /** Registers {@code ratelimit.store.state}. */
    @Override
    public void state(BooleanSupplier shared) {
        meters.gauge(
                "ratelimit.store.state",
                null,
                "Whether the instances share their limits: 1, or 0 while on-store-failure applies",
                Tags.empty(),
                () -> shared.getAsBoolean() ? 1 : 0);
    }

    /** Registers {@code ratelimit.redis.state} of one of several servers. */
    @Override
    public void state(String redis, BooleanSupplier available) {
        meters.gauge(
                "ratelimit.redis.state",
                null,
                "Whether one of several Redis servers decides: 1, or 0 while on-store-failure applies to its limits",
                Tags.of(REDIS, redis),
                () -> available.getAsBoolean() ? 1 : 0);
    }

    /** Registers {@code ratelimit.buckets}. */
    @Override
    public void buckets(IntSupplier count) {
        meters.gauge("ratelimit.buckets", "buckets", "Buckets in memory", Tags.empty(), count::getAsInt);
    }

    /** Registers {@code ratelimit.evictions}, and returns what counts one. */
    @Override
    public Runnable evictions() {
        return counting("ratelimit.evictions", "evictions", "Buckets in use that were removed because memory was full");
    }

    /** Registers {@code ratelimit.cached.rejections}, and returns what counts one. */
    @Override
    public Runnable cachedRejections() {
        return counting(
                "ratelimit.cached.rejections", "rejections", "Calls that were rejected again without the store");
    }

    /** Registers {@code ratelimit.concurrency.lost}, and returns what counts a number of permits. */
    @Override
    public LongConsumer lostPermits() {
        Counter counter = meters.counter(
                "ratelimit.concurrency.lost",
                "permits",
                "Permits of running calls that had expired or were lost by Redis, so that others could take them",
                Tags.empty());
        return permits -> meters.increment(counter, (double) permits);
    }

    private Runnable counting(String name, String unit, String description) {
        Counter counter = meters.counter(name, unit, description, Tags.empty());
        return () -> meters.increment(counter, 1);
    }
}
