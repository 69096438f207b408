package io.ratelimit.benchmarks.memory;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.TimeSource;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreRequest;
import org.openjdk.jmh.infra.Blackhole;

/** This starter: the store alone. */
public final class OurStore implements Contestant {

    private final RateLimit limit = RateLimit.named("quotes")
            .capacity(Quota.PLENTY.capacity())
            .rate(Quota.PLENTY.rate())
            .build();

    private final String name;

    private final RateLimitStore store;

    public OurStore() {
        this("this starter, bare store", 100_000);
    }

    /** @param maxKeys how many buckets it holds at the most */
    public OurStore(String name, long maxKeys) {
        this.name = name;
        this.store = new InMemoryRateLimitStore(TimeSource.monotonic(), maxKeys);
    }

    /** Makes a bucket for each key. */
    public void touch(String[] keys) {
        for (String key : keys) {
            store.decide(StoreRequest.of(new Charge(limit, key, 1)));
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RateLimitDecision decision =
                store.decide(StoreRequest.of(new Charge(limit, key, 1))).decision();
        sink.consume(decision);
        return decision.allowed();
    }
}
