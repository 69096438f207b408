package io.ratelimit.benchmarks.redis;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Keys;
import org.openjdk.jmh.infra.Blackhole;

/** This starter's sliding window log. Its capacity is bounded, so the hot key has a limit with a short window. */
public final class OurLog implements Contestant {

    private final String name;

    private final OurApplication application;

    private final RateLimiterRegistry limiters;

    private final String limit;

    private final String hotLimit;

    /** @param application closed with this contestant; others may share it */
    public OurLog(String name, OurApplication application, String limit, String hotLimit) {
        this.name = name;
        this.application = application;
        this.limiters = application.registry();
        this.limit = limit;
        this.hotLimit = hotLimit;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RateLimitDecision decision =
                limiters.get(key.equals(Keys.HOT) ? hotLimit : limit).tryAcquire(key);
        sink.consume(decision);
        return decision.allowed();
    }

    @Override
    public void close() {
        application.close();
    }
}
