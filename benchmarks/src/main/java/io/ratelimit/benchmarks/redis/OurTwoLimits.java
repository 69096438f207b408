package io.ratelimit.benchmarks.redis;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.benchmarks.race.Contestant;
import java.util.List;
import org.openjdk.jmh.infra.Blackhole;

/** This starter, called programmatically: two limits on one call, both charged or none. */
public final class OurTwoLimits implements Contestant {

    private final String name;

    private final OurApplication application;

    private final RateLimiterRegistry limiters;

    private final String first;

    private final String second;

    private final String suffix;

    private OurTwoLimits(String name, OurApplication application, String first, String second, String suffix) {
        this.name = name;
        this.application = application;
        this.limiters = application.registry();
        this.first = first;
        this.second = second;
        this.suffix = suffix;
    }

    /** Both limits have the caller's key. */
    public static OurTwoLimits ofOneKey(String name, OurApplication application, String first, String second) {
        return new OurTwoLimits(name, application, first, second, "");
    }

    /** The second limit has a key of its own, and on a cluster another slot. */
    public static OurTwoLimits ofTwoKeys(String name, OurApplication application, String first, String second) {
        return new OurTwoLimits(name, application, first, second, "-tenant");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        JointDecision decision = limiters.tryAcquireAll(
                List.of(new PermitRequest(first, key), new PermitRequest(second, key.concat(suffix))));
        sink.consume(decision);
        return decision.allowed();
    }

    @Override
    public void close() {
        application.close();
    }
}
