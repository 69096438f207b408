package io.ratelimit.benchmarks.redis;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.distributed.proxy.optimization.DelayParameters;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Bucket4j in Redis by Lettuce: reads the bucket and writes it by compare-and-swap. Its buckets are kept, as its
 * documentation asks for where they are optimised: callers of one bucket share a batch.
 */
public final class Bucket4jRedis implements Contestant {

    private final String name;

    private final RedisClient client;

    private final ProxyManager<String> buckets;

    private final @Nullable Optimization optimization;

    private final BucketConfiguration configuration;

    private final ConcurrentMap<String, BucketProxy> known = new ConcurrentHashMap<>();

    private Bucket4jRedis(String name, RedisAddress redis, Quota quota, @Nullable Optimization optimization) {
        this.name = name;
        this.client = RedisClient.create(redis.uri());
        this.buckets = Bucket4jLettuce.casBasedBuilder(
                        client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                .build();
        this.optimization = optimization;
        this.configuration = BucketConfiguration.builder()
                .addLimit(limit -> limit.capacity(quota.capacity()).refillGreedy(quota.permits(), quota.period()))
                .build();
    }

    public static Bucket4jRedis plain(RedisAddress redis, Quota quota) {
        return new Bucket4jRedis("Bucket4j", redis, quota, null);
    }

    /** Calls of one JVM for one bucket go to Redis together. */
    public static Bucket4jRedis batching(RedisAddress redis, Quota quota) {
        return new Bucket4jRedis("Bucket4j, batching", redis, quota, Optimizations.batching());
    }

    /** Takes up to 100 permits before it tells Redis, at the latest after a second: it may allow too many. */
    public static Bucket4jRedis delaying(RedisAddress redis) {
        return new Bucket4jRedis(
                "Bucket4j, delaying (allows too many)",
                redis,
                Quota.LASTING,
                Optimizations.delaying(new DelayParameters(100, Duration.ofSeconds(1))));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        BucketProxy bucket = known.get(key);
        if (bucket == null) {
            bucket = known.computeIfAbsent(key, this::bucket);
        }
        ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(1);
        sink.consume(probe);
        return probe.isConsumed();
    }

    private BucketProxy bucket(String key) {
        var builder = buckets.builder();
        return (optimization == null ? builder : builder.withOptimization(optimization))
                .build("bucket4j:" + key, () -> configuration);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
