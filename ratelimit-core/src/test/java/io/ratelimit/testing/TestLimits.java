package io.ratelimit.testing;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** Limits as tests want them. */
public final class TestLimits {

    private TestLimits() {}

    public static RateLimit tokenBucket(String name, long capacity, String rate) {
        return RateLimit.named(name).capacity(capacity).rate(rate).build();
    }

    public static RateLimit fixedWindow(String name, long capacity, String rate) {
        return RateLimit.named(name)
                .algorithm(Algorithm.FIXED_WINDOW)
                .capacity(capacity)
                .rate(rate)
                .build();
    }

    public static RateLimit calendarWindow(String name, String rate, String zone) {
        return RateLimit.named(name)
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate(rate)
                .zone(ZoneId.of(zone))
                .build();
    }

    public static RateLimit concurrency(String name, long capacity) {
        return RateLimit.named(name)
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(capacity)
                .build();
    }

    public static RateLimit blocking(RateLimit limit, Duration... durations) {
        return TestSettings.of(limit.dryRun(), limit.onStoreFailure(), Map.of())
                .with(AlgorithmCatalog.NONE, List.of((name, builder) -> builder.blockFor(durations)))
                .apply(limit);
    }

    public static RateLimit dryRun(RateLimit limit) {
        return dryRun(limit, OnStoreFailure.LOCAL);
    }

    public static RateLimit dryRun(RateLimit limit, OnStoreFailure policy) {
        return TestSettings.of(true, policy, Map.of()).apply(limit);
    }

    public static RateLimit failingBy(OnStoreFailure policy, String name) {
        return TestSettings.of(false, policy, Map.of())
                .apply(RateLimit.named(name).rate("1/h"));
    }
}
