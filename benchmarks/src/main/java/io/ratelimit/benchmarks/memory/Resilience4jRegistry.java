package io.ratelimit.benchmarks.memory;

import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import io.ratelimit.benchmarks.race.Contestant;
import java.time.Duration;
import org.openjdk.jmh.infra.Blackhole;

/** Resilience4j by hand: its registry, with a limiter for each key, which it keeps for ever. */
public final class Resilience4jRegistry implements Contestant {

    private final RateLimiterRegistry limiters = RateLimiterRegistry.of(RateLimiterConfig.custom()
            .limitForPeriod(1_000_000_000)
            .limitRefreshPeriod(Duration.ofSeconds(1))
            .timeoutDuration(Duration.ZERO)
            .build());

    @Override
    public String name() {
        return "Resilience4j";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        return limiters.rateLimiter(key).acquirePermission();
    }
}
