package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Tries the algorithms of an application at start-up: a few calls in memory, and the functions of the Lua part in Redis. */
public final class AlgorithmCheck {

    private static final long NOW = 1_800_000_000_000_000L;

    private static final String FIX = "Correct the function. docs/own-algorithms.md lists what each must return.";

    private AlgorithmCheck() {}

    /**
     * Makes a few calls in memory.
     *
     * @throws RateLimitConfigurationException if a function fails
     */
    public static void inMemory(AlgorithmCatalog algorithms) {
        algorithms.own().forEach(AlgorithmCheck::inMemory);
    }

    private static void inMemory(RateLimitAlgorithm algorithm) {
        AtomicLong now = new AtomicLong(NOW);
        RateLimitStore store = new InMemoryRateLimitStore(now::get, 1);
        RateLimit limit = RateLimit.named("check")
                .algorithm(algorithm)
                .capacity(20)
                .rate("10/s")
                .build();
        try {
            for (long permits : new long[] {1, 19, 1, 20, 0}) {
                store.decide(new Charge(limit, null, permits));
                now.addAndGet(50_000);
            }
            // In memory, everything is done at once.
            var unused = store.charge(new Charge(limit, null, 30));
            store.decide(new Charge(limit, null, 1));
            var unusedToo = store.change(limit, null, BucketChange.grant(5));
            now.addAndGet(Duration.ofDays(10).toNanos() / 1_000);
            store.decide(new Charge(limit, null, 1));
        } catch (RateLimitStoreException ex) {
            throw mistake(algorithm, "", ex.getMessage(), ex);
        }
    }

    /**
     * Returns the report of a mistake that Redis has found.
     *
     * @param message what is wrong with the Lua part
     */
    public static RateLimitConfigurationException inRedis(RateLimitAlgorithm algorithm, String message) {
        return mistake(algorithm, "the Lua part of ", message, null);
    }

    private static RateLimitConfigurationException mistake(
            RateLimitAlgorithm algorithm, String part, @Nullable String message, @Nullable Throwable cause) {
        return new RateLimitConfigurationException(
                part + "the RateLimitAlgorithm '" + algorithm.name() + "' ("
                        + algorithm.getClass().getName() + ") fails: " + message + ".",
                FIX,
                cause);
    }
}
