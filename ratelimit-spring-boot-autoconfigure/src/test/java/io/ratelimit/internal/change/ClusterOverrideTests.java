package io.ratelimit.internal.change;

import static io.ratelimit.internal.change.OverriddenInstance.QUOTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin.Bucket;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes on a Redis Cluster, where one node has all overrides, and each bucket is where its key is. */
@Timeout(180)
@LongRunning
class ClusterOverrideTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    /** As long as an instance remembers a rejection that nothing ends. */
    private static final Duration REMEMBERED = Duration.ofSeconds(1);

    /** Until an operator whose change was not seen repeats it. */
    private static final Duration AGAIN = Duration.ofSeconds(2);

    private static final String LEASED = "leased";

    private static final long CAPACITY = 100_000_000;

    /** More than a test takes. */
    private static final long LEASE = 10_000;

    /** On each node. */
    private static final List<String> KEYS = List.of("alice", "bob", "carol", "dave", "erin", "frank");

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
                "127.0.0.1:" + cluster.master(0).port(),
                "ratelimit.limits.quotes.plans.pro.capacity=20",
                "ratelimit.limits.leased.algorithm=fixed-window",
                "ratelimit.limits.leased.rate=" + CAPACITY + "/h",
                "ratelimit.limits.leased.lease=" + LEASE);
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

    /** What an operator does to a bucket, on one instance. */
    private enum Operator {
        ADMIN {
            @Override
            void grant(String limit, String key, long permits) {
                first.admin().bucket(limit, key).grant(permits);
            }

            @Override
            void block(String limit, String key) {
                first.admin().bucket(limit, key).block(Duration.ofMinutes(10));
            }

            @Override
            void unblock(String limit, String key) {
                first.admin().bucket(limit, key).unblock();
            }

            @Override
            void reset(String limit, String key) {
                first.admin().bucket(limit, key).reset();
            }
        },

        ENDPOINT {
            @Override
            void grant(String limit, String key, long permits) {
                change(limit, key, permits, null, null);
            }

            @Override
            void block(String limit, String key) {
                change(limit, key, null, "10m", null);
            }

            @Override
            void unblock(String limit, String key) {
                change(limit, key, null, null, true);
            }

            @Override
            void reset(String limit, String key) {
                var unused = first.endpoint().remove(limit, key, null, null, "bob");
            }

            private static void change(String limit, String key, Long grant, String blockFor, Boolean unblock) {
                var unused = first.endpoint()
                        .change(
                                limit, key, null, null, null, null, blockFor, null, null, null, null, null, grant,
                                unblock, "bob");
            }
        };

        abstract void grant(String limit, String key, long permits);

        abstract void block(String limit, String key);

        abstract void unblock(String limit, String key);

        abstract void reset(String limit, String key);
    }

    @ParameterizedTest
    @EnumSource
    void otherInstanceForgetsARejectionBeforeItEndsByItself(Operator operator) {
        for (String name : KEYS) {
            String key = name + " rejected, then " + operator;
            awaitTold(key, () -> operator.grant(QUOTES, key, 2));
            awaitTold(key, () -> operator.reset(QUOTES, key));
            awaitTold(key, () -> {
                operator.block(QUOTES, key);
                assertThat(second.limiter().tryAcquire(key).allowed()).isFalse();
                operator.reset(QUOTES, key);
                operator.block(QUOTES, key);
                operator.unblock(QUOTES, key);
            });
        }
    }

    /** On a busy machine a message may come too late. */
    private static void awaitTold(String key, Runnable change) {
        await("a message about " + key).atMost(SOON).until(() -> {
            long before;
            do {
                before = System.nanoTime();
            } while (second.limiter().tryAcquire(key).allowed());
            change.run();
            boolean admitted;
            do {
                admitted = second.limiter().tryAcquire(key).allowed();
            } while (!admitted && System.nanoTime() - before < REMEMBERED.toNanos());
            return System.nanoTime() - before < REMEMBERED.toNanos();
        });
    }

    /** It has more leased permits than the test takes, of a window that lasts for longer. */
    @ParameterizedTest
    @EnumSource
    void otherInstanceHandsOutNoLeasedPermitsOfABlockedOrResetKey(Operator operator) {
        for (String name : KEYS) {
            String key = name + " leased, then " + operator;
            lease(key);
            // Redis delivers a message at most once.
            await().pollDelay(Duration.ZERO).pollInterval(AGAIN).atMost(SOON).until(() -> {
                operator.block(LEASED, key);
                return !second.limiter(LEASED).tryAcquire(key).allowed();
            });
            operator.unblock(LEASED, key);
            await().atMost(SOON)
                    .until(() -> second.limiter(LEASED).tryAcquire(key).allowed());

            operator.reset(LEASED, key);
            lease(key);
            // Permits that were leased before are charged no more.
            await().pollDelay(Duration.ZERO).pollInterval(AGAIN).atMost(SOON).until(() -> {
                operator.reset(LEASED, key);
                assertThat(second.limiter(LEASED).tryAcquire(key).allowed()).isTrue();
                return remaining(key) < CAPACITY;
            });
        }
    }

    /** The second call takes a lease. */
    private static void lease(String key) {
        await().atMost(SOON).until(() -> {
            assertThat(second.limiter(LEASED).tryAcquire(key).allowed()).isTrue();
            return remaining(key) <= CAPACITY - LEASE;
        });
    }

    private static long remaining(String key) {
        return first.admin().bucket(LEASED, key).inspect().remaining();
    }
}
