package io.ratelimit.benchmarks.redis;

import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Quota;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.openjdk.jmh.infra.Blackhole;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's {@code RRateLimiter}, one for each key, its rate set once. It remembers every permit of the last interval, as a
 * sliding window log does, so where there is plenty the interval of the hot key is a second and no longer.
 */
public final class RedissonLimiter implements Contestant {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final Duration HOUR = Duration.ofHours(1);

    private final RedissonClient redisson;

    private final ConcurrentMap<String, RRateLimiter> limiters = new ConcurrentHashMap<>();

    private final Quota quota;

    public RedissonLimiter(RedisAddress redis, Quota quota) {
        Config config = new Config();
        if (redis.isCluster()) {
            config.useClusterServers().addNodeAddress(redis.uris().toArray(String[]::new));
        } else {
            config.useSingleServer().setAddress(redis.uri());
        }
        this.redisson = Redisson.create(config);
        this.quota = quota;
    }

    private RRateLimiter limiter(String key) {
        RRateLimiter limiter = redisson.getRateLimiter("redisson:" + key);
        if (quota.equals(Quota.LASTING)) {
            limiter.trySetRate(RateType.OVERALL, 1_000_000, key.equals(Keys.HOT) ? SECOND : HOUR);
        } else {
            limiter.trySetRate(RateType.OVERALL, quota.permits(), quota.period());
        }
        return limiter;
    }

    @Override
    public String name() {
        return "Redisson";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        RRateLimiter known = limiters.get(key);
        RRateLimiter limiter = known != null ? known : limiters.computeIfAbsent(key, this::limiter);
        return limiter.tryAcquire();
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
