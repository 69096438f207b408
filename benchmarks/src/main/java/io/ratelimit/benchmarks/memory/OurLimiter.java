package io.ratelimit.benchmarks.memory;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.Map;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.context.ConfigurableApplicationContext;

/** This starter, called programmatically in a whole application: the registry's lookup, then the decision. */
public final class OurLimiter implements Contestant {

    private final ConfigurableApplicationContext application;

    private final RateLimiterRegistry limiters;

    public OurLimiter() {
        this.application = Applications.start(
                "io.ratelimit.",
                Map.of(
                        "ratelimit.store", "in-memory",
                        "ratelimit.limits.quotes.capacity", Quota.PLENTY.capacity(),
                        "ratelimit.limits.quotes.rate", Quota.PLENTY.rate()));
        this.limiters = application.getBean(RateLimiterRegistry.class);
    }

    @Override
    public String name() {
        return "this starter, registry";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RateLimitDecision decision = limiters.get("quotes").tryAcquire(key);
        sink.consume(decision);
        return decision.allowed();
    }

    @Override
    public void close() {
        application.close();
    }
}
