package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.RedisSentinels;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that hold permits while Redis is replaced, restarted without its data, or away. */
@Timeout(300)
@LongRunning
class HoldersInOutagesTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static Instance start(List<String> properties, String policy) {
        return new Instance(Stream.concat(
                        properties.stream(),
                        Stream.of(
                                "ratelimit.redis.timeout=2s",
                                "ratelimit.on-store-failure=" + policy,
                                "ratelimit.limits.held.algorithm=concurrency",
                                "ratelimit.limits.held.capacity=2",
                                "ratelimit.limits.held.hold=3s"))
                .toList());
    }

    private static void awaitFree(Instance instance, String key, long permits) {
        await(permits + " free permits of " + key)
                .atMost(PATIENCE)
                .ignoreException(RateLimitStoreException.class)
                .until(() -> instance.limiter("held").peek(key).remaining() == permits);
    }

    /** No permit of the bucket is free for longer than the hold. */
    private static void awaitRenewals(Instance instance) {
        await("renewals")
                .during(Duration.ofSeconds(4))
                .atMost(PATIENCE)
                .ignoreException(RateLimitStoreException.class)
                .until(() -> instance.limiter("held").peek("alice").remaining() == 0);
    }

    private static double lost(Instance instance) {
        return instance.bean(MeterRegistry.class)
                .get("ratelimit.concurrency.lost")
                .counter()
                .count();
    }

    @Test
    void replicaThatTakesOverCountsThePermits() {
        try (RedisSentinels sentinels = new RedisSentinels();
                Instance instance = start(sentinels.properties(), "throw")) {
            RateLimiter.Entry entry = instance.limiter("held").enter("alice", 2);
            sentinels.awaitReplicas();
            sentinels.master().kill();
            sentinels.awaitPromotion();
            awaitRenewals(instance);
            entry.close();
            awaitFree(instance, "alice", 2);
        }
    }

    @Test
    void shardsOfAClusterCountThePermitsAfterOneIsReplaced() {
        try (RedisCluster cluster = RedisCluster.withReplicas();
                Instance instance = start(cluster.properties(), "throw")) {
            List<String> keys =
                    IntStream.range(0, 12).mapToObj(i -> "caller-" + i).toList();
            List<RateLimiter.Entry> entries = new ArrayList<>();
            keys.forEach(key -> entries.add(instance.limiter("held").enter(key, 2)));
            cluster.awaitReplicas();
            cluster.master(0).kill();
            cluster.awaitPromotion(0);
            keys.forEach(key -> awaitFree(instance, key, 0));
            entries.forEach(RateLimiter.Entry::close);
            keys.forEach(key -> awaitFree(instance, key, 2));
        }
    }

    @Test
    void permitsAreCountedAgainIfRedisHasRestartedWithoutItsData() {
        try (RedisProcess redis = RedisProcess.server();
                Instance instance = start(RedisServer.propertiesVia(redis.port()), "throw")) {
            RateLimiter.Entry entry = instance.limiter("held").enter("alice", 2);
            assertThat(lost(instance)).isZero();
            redis.kill();
            redis.start();
            await("the renewal").atMost(PATIENCE).until(() -> lost(instance) == 2);
            awaitFree(instance, "alice", 0);
            entry.close();
            awaitFree(instance, "alice", 2);
        }
    }

    @Test
    void functionsThatWereRemovedAreLoadedForRenewalsAndReleases() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = start(redis.properties(), "throw")) {
            RateLimiter.Entry entry = instance.limiter("held").enter("alice", 2);
            redis.forgetScripts();
            entry.close();
            awaitFree(instance, "alice", 2);
            RateLimiter.Entry next = instance.limiter("held").enter("alice", 2);
            redis.forgetScripts();
            awaitRenewals(instance);
            assertThat(lost(instance)).isZero();
            next.close();
            awaitFree(instance, "alice", 2);
        }
    }

    @Test
    void callsOfBothSidesOfAnOutageAreReleasedWhereTheyWereCounted() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = start(redis.properties(), "local")) {
            RateLimiter limiter = instance.limiter("held");
            RateLimiter.Entry shared = limiter.enter("alice");
            redis.kill();
            // By this instance alone, which knows nothing of the other call.
            RateLimiter.Entry local = limiter.enter("alice");
            RateLimiter.Entry other = limiter.enter("alice");
            assertThat(limiter.peek("alice").remaining()).isZero();
            other.close();
            assertThat(limiter.peek("alice").remaining()).isEqualTo(1);
            shared.close();
            assertThat(limiter.peek("alice").remaining()).isEqualTo(1);
            redis.restart();
            awaitFree(instance, "alice", 2);
            local.close();
            RateLimiter.Entry last = limiter.enter("alice", 2);
            awaitFree(instance, "alice", 0);
            last.close();
            awaitFree(instance, "alice", 2);
        }
    }
}
