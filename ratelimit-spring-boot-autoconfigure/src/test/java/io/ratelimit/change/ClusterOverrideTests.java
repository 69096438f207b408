package io.ratelimit.change;

import static io.ratelimit.change.OverriddenInstance.QUOTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin.Bucket;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.testing.redis.RedisCluster;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes on a Redis Cluster, where one node has all overrides, and each bucket is where its key is. */
@Timeout(180)
class ClusterOverrideTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static RedisCluster cluster;

    private static OverriddenInstance first;

    private static OverriddenInstance second;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.undisturbed();
        first = instance();
        second = instance();
    }

    private static OverriddenInstance instance() {
        return OverriddenInstance.onCluster(
                "127.0.0.1:" + cluster.master(0).port(), "ratelimit.limits.quotes.plans.pro.capacity=20");
    }

    @AfterAll
    static void stop() {
        second.close();
        first.close();
        cluster.close();
    }

    @Test
    void overrideAppliesOnOtherInstances() {
        first.admin().override(QUOTES, RateLimitOverride.builder().capacity(50).build());
        await().atMost(SOON).until(() -> second.limit().capacity() == 50);
        second.admin().removeOverride(QUOTES);
        await().atMost(SOON).until(() -> first.limit().capacity() == 10);
    }

    /** On all nodes, and with texts that look like a hash tag. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "alice",
                "bob",
                "carol",
                "{a}b}{c",
                "{",
                "}",
                "{}",
                "{alice}",
                "a\r\nb\0c",
                "käse ☕ 𝒦",
                "%",
                "LONG"
            })
    void bucketOfAnyKeyIsReadAndChangedByEachInstance(String name) {
        String key = name.equals("LONG") ? "k".repeat(1_024) : name;
        Bucket ofFirst = first.admin().bucket(QUOTES, key);
        Bucket ofSecond = second.admin().bucket(QUOTES, key);
        assertThat(first.limiter().tryAcquire(key, 10).allowed()).isTrue();
        assertThat(second.limiter().tryAcquire(key).allowed()).isFalse();
        assertThat(second.limiter().peek(key).remaining()).isZero();
        assertThat(ofSecond.inspect().remaining()).isZero();
        assertThat(ofFirst.grant(2).remaining()).isEqualTo(2);
        // What it has rejected is remembered by the second instance until it is told.
        await().atMost(SOON).until(() -> second.limiter().tryAcquire(key).allowed());

        assertThat(ofSecond.block(Duration.ofMinutes(10)).isBlocked()).isTrue();
        assertThat(first.limiter().tryAcquire(key).allowed()).isFalse();
        assertThat(ofFirst.inspect().blockedFor()).isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
        assertThat(ofSecond.unblock().isBlocked()).isFalse();
        await().atMost(SOON).until(() -> first.limiter().tryAcquire(key).allowed());

        assertThat(second.limiter().tryAcquire(key).allowed()).isFalse();
        ofFirst.reset();
        assertThat(ofSecond.inspect().remaining()).isEqualTo(10);
        await().atMost(SOON).until(() -> second.limiter().tryAcquire(key, 10).allowed());
        assertThat(first.admin().bucket(QUOTES, key + "x").inspect().remaining())
                .isEqualTo(10);
    }

    @Test
    void plansCountInOneBucketAndAreOverriddenOnOtherInstances() {
        assertThat(first.limiter().tryAcquire("planned", 10).allowed()).isTrue();
        assertThat(second.limiter().tryAcquire("planned").allowed()).isFalse();
        assertThat(second.limiter().withPlan("pro").tryAcquire("planned", 8).remaining())
                .isEqualTo(2);
        first.admin()
                .forPlan("pro")
                .override(QUOTES, RateLimitOverride.builder().capacity(30).build());
        await().atMost(SOON)
                .until(() -> second.limiter().withPlan("pro").peek("planned").remaining() == 12);
        assertThat(first.limiter().tryAcquire("planned").allowed()).isFalse();
        second.admin().forPlan("pro").removeOverride(QUOTES);
    }
}
