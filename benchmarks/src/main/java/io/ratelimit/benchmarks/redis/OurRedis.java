package io.ratelimit.benchmarks.redis;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitProperties;
import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * This starter, called programmatically in a whole application with its defaults. One differs: a failure of the store
 * throws, so that it counts as a wrong answer here and is not hidden by memory's quick ones.
 */
public final class OurRedis implements Contestant {

    private static final int AT_A_TIME = 200;

    private static final String LIMIT = "ratelimit.limits.quotes.";

    private final String name;

    private final ConfigurableApplicationContext application;

    private final RateLimiterRegistry limiters;

    private OurRedis(String name, RedisAddress redis, Quota quota, Map<String, ?> properties) {
        this.name = name;
        Map<String, Object> all = new HashMap<>(redis.properties());
        all.put("ratelimit.on-store-failure", "throw");
        all.put(LIMIT + "capacity", quota.capacity());
        all.put(LIMIT + "rate", quota.rate());
        all.putAll(properties);
        this.application = Applications.start("io.ratelimit.", all);
        this.limiters = application.getBean(RateLimiterRegistry.class);
    }

    public static OurRedis withDefaults(RedisAddress redis, Quota quota) {
        return named("this starter", redis, quota);
    }

    /** With the defaults. */
    public static OurRedis named(String name, RedisAddress redis, Quota quota) {
        return new OurRedis(name, redis, quota, Map.of());
    }

    /** A limit of another kind. */
    public static OurRedis of(RedisAddress redis, Quota quota, Algorithm algorithm) {
        return new OurRedis("this starter, " + algorithm, redis, quota, Map.of(LIMIT + "algorithm", algorithm));
    }

    /** Empty in a version that remembers none anyway. */
    public static Optional<OurRedis> forgettingRejections(RedisAddress redis) {
        return has(RateLimitProperties.Redis.class, "rememberRejections")
                ? Optional.of(new OurRedis(
                        "this starter, not remembered",
                        redis,
                        Quota.ONCE_A_DAY,
                        Map.of("ratelimit.redis.remember-rejections", false)))
                : Optional.empty();
    }

    /** Empty in a version that knows no leases. */
    public static Optional<OurRedis> leasing(RedisAddress redis) {
        return has(RateLimitProperties.Limit.class, "lease")
                ? Optional.of(new OurRedis(
                        "this starter, leases of 100", redis, Quota.FOR_LEASES, Map.of(LIMIT + "lease", 100)))
                : Optional.empty();
    }

    private static boolean has(Class<? extends Record> properties, String property) {
        return Stream.of(properties.getRecordComponents())
                .anyMatch(component -> component.getName().equals(property));
    }

    @Override
    public String name() {
        return name;
    }

    /** Makes a bucket for each key, many at a time. */
    public void touch(String[] keys) {
        RateLimiter limiter = limiters.get("quotes");
        for (int from = 0; from < keys.length; from += AT_A_TIME) {
            CompletableFuture.allOf(Arrays.stream(keys, from, Math.min(from + AT_A_TIME, keys.length))
                            .map(key -> limiter.tryAcquireAsync(key, 1).toCompletableFuture())
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
        }
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
