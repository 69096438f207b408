package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Violations of limits that block keys, while Redis is away and when it is back. The clock of an instance stands meanwhile. */
@Timeout(180)
@LongRunning
class BlocksInOutagesTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration MICRO = Duration.of(1, ChronoUnit.MICROS);

    /** Longer than the test takes, because the clock of Redis goes on. */
    private static final Duration BLOCK = Duration.ofMinutes(10);

    private static final Duration NEXT_BLOCK = Duration.ofHours(1);

    private static final int CAPACITY = 4;

    private static Instance start(RedisServer redis, int instances) {
        return new Instance(
                Stream.concat(
                                redis.properties().stream(),
                                Stream.of(
                                        "ratelimit.redis.timeout=5s",
                                        "ratelimit.on-store-failure=local",
                                        "ratelimit.expected-instances=" + instances,
                                        "ratelimit.limits.blocking.capacity=" + CAPACITY,
                                        "ratelimit.limits.blocking.rate=4/d",
                                        "ratelimit.limits.blocking.block-for=10m, 1h",
                                        "ratelimit.limits.watching.capacity=" + CAPACITY,
                                        "ratelimit.limits.watching.rate=4/d",
                                        "ratelimit.limits.watching.block-for=30d",
                                        "ratelimit.limits.watching.dry-run=true"))
                        .toList(),
                TestClock.class);
    }

    private static void kill(RedisServer redis, Instance... instances) {
        redis.kill();
        for (Instance instance : instances) {
            await("the end of the connection").atMost(PATIENCE).until(() -> !isThere(instance));
        }
    }

    private static boolean isThere(Instance instance) {
        return instance.bean(StoreHealth.class).failures().isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void violationBlocksTheKeyOnThisInstanceAloneUntilRedisDecidesAgain(int instances) {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance first = start(redis, instances);
                Instance second = start(redis, instances)) {
            RateLimiter limiter = first.limiter("blocking");
            assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
            assertThat(limiter.tryAcquire("mallory", CAPACITY).allowed()).isTrue();
            assertThat(limiter.tryAcquire("mallory").retryAfter()).isEqualTo(BLOCK);

            kill(redis, first, second);
            int share = CAPACITY / instances;
            assertThat(violate(limiter, "alice", share)).isEqualTo(BLOCK);
            TestClock clock = first.bean(TestClock.class);
            clock.advance(BLOCK.minus(MICRO));
            assertThat(limiter.peek("alice").retryAfter()).isEqualTo(MICRO);
            assertThat(limiter.tryAcquire("alice").retryAfter()).isEqualTo(MICRO);
            clock.advance(MICRO);
            assertThat(violate(limiter, "alice", 0)).as("the next violation").isEqualTo(NEXT_BLOCK);
            clock.advance(Duration.ofDays(1));
            assertThat(violate(limiter, "alice", share))
                    .as("the first violation again")
                    .isEqualTo(BLOCK);
            assertThat(limiter.tryAcquire("bob").allowed()).isTrue();
            assertThat(second.limiter("blocking").tryAcquire("alice").allowed()).isTrue();
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> first.bean(RateLimitAdmin.class)
                            .bucket("blocking", "alice")
                            .unblock());
            assertThat(limiter.tryAcquire("alice").retryAfter()).isEqualTo(BLOCK);

            redis.restart();
            await("Redis decides again")
                    .atMost(PATIENCE)
                    .until(() -> limiter.tryAcquire("alice").allowed());
            assertThat(limiter.peek("alice").remaining()).isLessThanOrEqualTo(CAPACITY - 2);
            await("Redis decides for the other instance")
                    .atMost(PATIENCE)
                    .until(() -> retryAfter(second, "mallory").compareTo(MICRO) > 0);
            for (Instance instance : List.of(first, second)) {
                assertThat(retryAfter(instance, "mallory")).isBetween(Duration.ofMinutes(1), BLOCK.minus(MICRO));
                assertThat(instance.bean(RateLimitAdmin.class)
                                .bucket("blocking", "alice")
                                .inspect()
                                .isBlocked())
                        .isFalse();
            }
        }
    }

    private static Duration retryAfter(Instance instance, String key) {
        return instance.limiter("blocking").peek(key).retryAfter();
    }

    /** Takes what is there and a permit more, and returns for how long the key is blocked. */
    private static Duration violate(RateLimiter limiter, String key, int available) {
        for (int call = 0; call < available; call++) {
            assertThat(limiter.tryAcquire(key).allowed()).isTrue();
        }
        RateLimitDecision violation = limiter.tryAcquire(key);
        assertThat(violation.allowed()).isFalse();
        assertThat(limiter.tryAcquire(key)).isEqualTo(violation);
        return violation.retryAfter();
    }

    /** A permit is back after a quarter of a day, and after a violation of a limit that is not in dry run it would not be for a month. */
    @Test
    void violationInDryRunBlocksNothing() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = start(redis, 1)) {
            kill(redis, instance);
            RateLimiter limiter = instance.limiter("watching");
            for (int call = 0; call < CAPACITY + 3; call++) {
                assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
            }
            assertThat(dryRunRejected(instance)).isEqualTo(3);
            instance.bean(TestClock.class).advance(Duration.ofHours(6));
            assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
            assertThat(dryRunRejected(instance)).isEqualTo(3);

            redis.restart();
            await("Redis decides again").atMost(PATIENCE).until(() -> isThere(instance));
            assertThat(instance.bean(RateLimitAdmin.class)
                            .bucket("watching", "alice")
                            .inspect()
                            .isBlocked())
                    .isFalse();
        }
    }

    private static double dryRunRejected(Instance instance) {
        return instance.bean(MeterRegistry.class)
                .get("ratelimit.calls")
                .tags("limit", "watching", "outcome", "dry_run_rejected")
                .counter()
                .count();
    }
}
