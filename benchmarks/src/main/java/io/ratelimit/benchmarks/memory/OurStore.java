package io.ratelimit.benchmarks.memory;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.openjdk.jmh.infra.Blackhole;

/** This starter: the store alone. */
public final class OurStore implements Contestant {

    private final RateLimit limit;

    private final String name;

    private final RateLimitStore store;

    private OurStore(String name, Algorithm algorithm, Quota quota, long maxKeys) {
        this.name = name;
        this.limit = RateLimit.named("quotes")
                .algorithm(algorithm)
                .capacity(quota.capacity())
                .rate(quota.permits(), quota.period())
                .build();
        this.store = new InMemoryRateLimitStore(TimeSource.monotonic(), maxKeys);
    }

    /** A token bucket. */
    public OurStore() {
        this("this starter, bare store", 100_000);
    }

    /**
     * A token bucket.
     *
     * @param maxKeys how many buckets it holds at the most
     */
    public OurStore(String name, long maxKeys) {
        this(name, Algorithm.TOKEN_BUCKET, Quota.PLENTY, maxKeys);
    }

    public static OurStore of(String name, Algorithm algorithm, Quota quota) {
        return new OurStore(name, algorithm, quota, 100_000);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RateLimitDecision decision =
                store.decide(new Charge(limit, key, 1)).await().decision();
        sink.consume(decision);
        return decision.allowed();
    }
}
