package io.ratelimit.benchmarks.redis;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.benchmarks.race.Applications;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A whole application with this starter, its defaults and some limits. One default differs: a failure of the store throws,
 * so that it counts as a wrong answer here and is not hidden by memory's quick ones.
 */
public final class OurApplication implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private OurApplication(RedisAddress redis, List<OurLimit> limits, Map<String, ?> properties) {
        Map<String, Object> all = new HashMap<>(redis.properties());
        all.put("ratelimit.on-store-failure", "throw");
        limits.forEach(limit -> all.putAll(limit.properties()));
        all.putAll(properties);
        this.context = Applications.start("io.ratelimit.", all);
    }

    public static OurApplication of(RedisAddress redis, OurLimit... limits) {
        return new OurApplication(redis, List.of(limits), Map.of());
    }

    /** Every rejection is one by Redis. */
    public static OurApplication forgettingRejections(RedisAddress redis, OurLimit... limits) {
        return new OurApplication(redis, List.of(limits), Map.of("ratelimit.redis.remember-rejections", false));
    }

    /** Without functions, as on a Redis that has none. */
    public static OurApplication withoutFunctions(RedisAddress redis, OurLimit... limits) {
        return new OurApplication(redis, List.of(limits), Map.of("ratelimit.redis.functions", false));
    }

    /** Waits for Redis longer than the default: for one that is far away, or filled with many keys. */
    public static OurApplication patient(RedisAddress redis, OurLimit... limits) {
        return new OurApplication(redis, List.of(limits), Map.of("ratelimit.redis.timeout", "30s"));
    }

    RateLimiterRegistry registry() {
        return context.getBean(RateLimiterRegistry.class);
    }

    @Override
    public void close() {
        context.close();
    }
}
