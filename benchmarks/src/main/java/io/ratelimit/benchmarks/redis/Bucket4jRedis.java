package io.ratelimit.benchmarks.redis;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConfigurationBuilder;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.distributed.proxy.optimization.DelayParameters;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
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

    private static final String BATCHING = "Bucket4j, batching";

    private final String name;

    private final AbstractRedisClient client;

    private final ProxyManager<String> buckets;

    private final @Nullable Optimization optimization;

    private final BucketConfiguration configuration;

    private final ConcurrentMap<String, BucketProxy> known = new ConcurrentHashMap<>();

    private Bucket4jRedis(String name, RedisAddress redis, @Nullable Optimization optimization, Quota... quotas) {
        this.name = name;
        RedisCodec<String, byte[]> codec = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);
        if (redis.isCluster()) {
            RedisClusterClient cluster = RedisClusterClient.create(redis.uri());
            this.client = cluster;
            this.buckets = manager(Bucket4jLettuce.casBasedBuilder(cluster.connect(codec)));
        } else {
            RedisClient single = RedisClient.create(redis.uri());
            this.client = single;
            this.buckets = manager(Bucket4jLettuce.casBasedBuilder(single.connect(codec)));
        }
        this.optimization = optimization;
        ConfigurationBuilder builder = BucketConfiguration.builder();
        for (Quota quota : quotas) {
            builder.addLimit(limit -> limit.capacity(quota.capacity()).refillGreedy(quota.permits(), quota.period()));
        }
        this.configuration = builder.build();
    }

    private static ProxyManager<String> manager(Bucket4jLettuce.LettuceBasedProxyManagerBuilder<String> builder) {
        return builder.expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                .build();
    }

    public static Bucket4jRedis plain(RedisAddress redis, Quota quota) {
        return new Bucket4jRedis("Bucket4j", redis, null, quota);
    }

    /** Calls of one JVM for one bucket go to Redis together. */
    public static Bucket4jRedis batching(RedisAddress redis, Quota quota) {
        return new Bucket4jRedis(BATCHING, redis, Optimizations.batching(), quota);
    }

    /** Two limits of one key: they share its bucket. */
    public static Bucket4jRedis twoBandwidths(RedisAddress redis, Quota first, Quota second) {
        return new Bucket4jRedis(BATCHING + ": two bandwidths", redis, Optimizations.batching(), first, second);
    }

    /** Takes up to 100 permits before it tells Redis, at the latest after a second: it may allow too many. */
    public static Bucket4jRedis delaying(RedisAddress redis) {
        return new Bucket4jRedis(
                "Bucket4j, delaying",
                redis,
                Optimizations.delaying(new DelayParameters(100, Duration.ofSeconds(1))),
                Quota.LASTING);
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
