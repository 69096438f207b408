package io.ratelimit.benchmarks.redis;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.benchmarks.race.Contestant;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.infra.Blackhole;

/** This starter, called programmatically: the registry's lookup, then the decision about one limit. */
public final class OurRedis implements Contestant {

    private static final int AT_A_TIME = 200;

    private final String name;

    private final OurApplication application;

    private final RateLimiterRegistry limiters;

    private final String limit;

    /** @param application closed with this contestant; others may share it */
    public OurRedis(String name, OurApplication application, String limit) {
        this.name = name;
        this.application = application;
        this.limiters = application.registry();
        this.limit = limit;
    }

    @Override
    public String name() {
        return name;
    }

    /** Many at a time. */
    @Override
    public void touch(String[] keys, Blackhole sink) {
        RateLimiter limiter = limiters.get(limit);
        for (int from = 0; from < keys.length; from += AT_A_TIME) {
            CompletableFuture.allOf(Arrays.stream(keys, from, Math.min(from + AT_A_TIME, keys.length))
                            .map(key -> limiter.tryAcquireAsync(key, 1).toCompletableFuture())
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
        }
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RateLimitDecision decision = limiters.get(limit).tryAcquire(key);
        sink.consume(decision);
        return decision.allowed();
    }

    @Override
    public void close() {
        application.close();
    }
}
