package io.ratelimit.internal.change;

import static io.ratelimit.internal.change.OverriddenInstance.QUOTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.redis.change.RedisChangeChannel;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Instances that share a Redis have the same overrides. */
@Timeout(180)
class SharedOverrideTests {

    private static final RedisServer redis = RedisServer.loadingAtOnce();

    /** Within a second, as documented, unless the machine is busy. */
    private static final Duration SOON = Duration.ofSeconds(60);

    private final String prefix = "overrides-" + System.nanoTime();

    private final OverriddenInstance first = new OverriddenInstance(redis.port(), prefix);

    private final OverriddenInstance second = new OverriddenInstance(redis.port(), prefix);

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Test
    void overrideAppliesEverywhereAndToInstancesThatStartLater() {
        RateLimitStatus status = first.admin()
                .as("alice")
                .override(QUOTES, RateLimitOverride.builder().capacity(50).build());
        assertThat(status.effective().capacity()).isEqualTo(50);
        assertThat(status.override().principal()).isEqualTo("alice");
        assertThat(first.limit().capacity()).isEqualTo(50);
        await().atMost(SOON).until(() -> second.limit().capacity() == 50);
        try (OverriddenInstance third = new OverriddenInstance(redis.port(), prefix)) {
            await().atMost(SOON).until(() -> third.limit().capacity() == 50);
            second.admin().removeOverride(QUOTES);
            await().atMost(SOON)
                    .until(() -> third.limit().capacity() == 10 && first.limit().capacity() == 10);
        }
        assertThat(redis.send("EXISTS", prefix + ":%overrides")).isEqualTo(0L);
        await().untilAsserted(() -> assertThat(first.events())
                .extracting(RateLimitChangedEvent::kind, RateLimitChangedEvent::madeHere)
                .containsExactly(tuple(Kind.OVERRIDDEN, true), tuple(Kind.OVERRIDE_REMOVED, false)));
    }

    @Test
    void usedPermitsStayUsed() {
        assertThat(first.limiter().tryAcquire("alice", 10).remaining()).isZero();
        first.admin().override(QUOTES, RateLimitOverride.builder().capacity(12).build());
        await().atMost(SOON).until(() -> second.limit().capacity() == 12);
        assertThat(second.limiter().tryAcquire("alice", 2).allowed()).isTrue();
        assertThat(first.limiter().tryAcquire("alice").allowed()).isFalse();
        second.admin().removeOverride(QUOTES);
        assertThat(second.limiter().tryAcquire("alice").allowed()).isFalse();
    }

    @Test
    void rememberedRejectionDoesNotOutliveARaise() {
        assertThat(second.limiter().tryAcquire("bob", 10).allowed()).isTrue();
        assertThat(second.limiter().tryAcquire("bob").allowed()).isFalse();
        first.admin().override(QUOTES, RateLimitOverride.builder().capacity(11).build());
        await().atMost(SOON).until(() -> second.limit().capacity() == 11);
        assertThat(second.limiter().tryAcquire("bob").allowed()).isTrue();
    }

    @Test
    void otherVersionIsAConflict() {
        long version = first.admin()
                .override(QUOTES, RateLimitOverride.builder().capacity(20).build(), 0)
                .version();
        assertThatExceptionOfType(RateLimitConflictException.class)
                .isThrownBy(() -> second.admin()
                        .override(
                                QUOTES, RateLimitOverride.builder().capacity(30).build(), 0))
                .satisfies(conflict -> assertThat(conflict.getVersion()).isEqualTo(version));
        // The conflict has told what applies.
        assertThat(second.limit().capacity()).isEqualTo(20);
        assertThatExceptionOfType(RateLimitConflictException.class)
                .isThrownBy(() -> second.admin().removeOverride(QUOTES, version - 1));
        assertThat(second.admin()
                        .override(
                                QUOTES, RateLimitOverride.builder().capacity(30).build(), version)
                        .version())
                .isGreaterThan(version);
        assertThat(first.admin()
                        .removeOverrideAsync(QUOTES, -1)
                        .toCompletableFuture()
                        .join()
                        .override())
                .isNull();
    }

    @Test
    void durationEndsTheOverrideOnceEverywhere() {
        first.admin()
                .override(
                        QUOTES,
                        RateLimitOverride.builder()
                                .capacity(50)
                                .duration(Duration.ofSeconds(5))
                                .build());
        await().atMost(SOON).until(() -> second.limit().capacity() == 50);
        await().atMost(SOON)
                .until(() -> first.limit().capacity() == 10 && second.limit().capacity() == 10);
        await().atMost(SOON).until(() -> Long.valueOf(0).equals(redis.send("EXISTS", prefix + ":%overrides")));
        await().untilAsserted(() -> assertThat(Stream.concat(first.events().stream(), second.events().stream()))
                .extracting(RateLimitChangedEvent::kind)
                .filteredOn(kind -> kind != Kind.OVERRIDDEN)
                .containsExactly(Kind.OVERRIDE_ENDED, Kind.OVERRIDE_ENDED));
    }

    @Test
    void overrideThatThisInstanceCannotApplyLeavesItAsItIs() {
        try (OverriddenInstance other =
                new OverriddenInstance(redis.port(), prefix, "ratelimit.limits.quotes.algorithm=fixed-window")) {
            first.admin()
                    .override(
                            QUOTES,
                            RateLimitOverride.builder()
                                    .capacity(20)
                                    .maxWait(Duration.ofSeconds(1))
                                    .build());
            await().atMost(SOON).until(() -> other.admin().status(QUOTES).override() != null);
            RateLimitStatus status = other.admin().status(QUOTES);
            assertThat(status.override().problem()).contains("maxWait must be 0 for FIXED_WINDOW");
            assertThat(status.effective().capacity()).isEqualTo(10);
        }
    }

    @Test
    void unknownAttributesAndLimitsOfNewerVersionsAreIgnored() {
        redis.send(
                "SET",
                prefix + ":%overrides",
                "quotes 1795251352713710 0 capacity=20 colour=red\nothers 1795251352713711 0 capacity=1");
        await().atMost(SOON)
                .until(() -> first.limit().capacity() == 20 && second.limit().capacity() == 20);
        first.admin().removeOverride(QUOTES);
        assertThat((String) redis.send("GET", prefix + ":%overrides")).startsWith("others 1795251352713711");
    }

    @Test
    void attemptsToSubscribeAreQuietWhileRedisIsAwayAndEndAtOnce() {
        try (LogRecorder ours = new LogRecorder("io.ratelimit.redis");
                LogRecorder drivers = new LogRecorder("org.springframework.data.redis")) {
            redis.kill();
            try {
                RedisChangeChannel channel = first.channel();
                channel.stop();
                channel.start();
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> ours.lines().stream()
                                .anyMatch(line -> line.contains("Cannot subscribe to changes of rate limits")));
                channel.stop();
                channel.start();
            } finally {
                redis.restart();
            }
            assertThat(drivers.lines()).isEmpty();
        }
        // Not before the driver has connected again.
        await().atMost(Duration.ofSeconds(60))
                .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                .until(() -> second.admin()
                                .override(
                                        QUOTES,
                                        RateLimitOverride.builder().capacity(50).build())
                                .version()
                        > 0);
        await().atMost(Duration.ofSeconds(60)).until(() -> first.limit().capacity() == 50);
    }

    @Test
    void whileRedisIsAwayTheLastKnownOverridesApplyAndChangesFail() {
        first.admin().override(QUOTES, RateLimitOverride.builder().capacity(50).build());
        await().atMost(SOON).until(() -> second.limit().capacity() == 50);
        OverriddenInstance third;
        redis.kill();
        try {
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> first.admin().removeOverride(QUOTES));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> first.admin()
                            .removeOverrideAsync(QUOTES, -1)
                            .toCompletableFuture()
                            .join())
                    .withCauseInstanceOf(RateLimitStoreException.class);
            assertThat(first.limit().capacity()).isEqualTo(50);
            assertThat(second.limit().capacity()).isEqualTo(50);
            third = new OverriddenInstance(redis.port(), prefix);
            assertThat(third.limit().capacity()).isEqualTo(10);
        } finally {
            redis.restart();
        }
        try (third) {
            await().atMost(SOON).until(() -> third.limit().capacity() == 50);
        }
        redis.send("FLUSHALL");
        await().atMost(SOON)
                .until(() -> first.limit().capacity() == 10 && second.limit().capacity() == 10);
    }

    /** Of a small lease, which would be kept for ten seconds without the change. */
    @Test
    void leasesFromBeforeTheChangeAreRefunded() {
        String leases = "overrides-of-leases-" + System.nanoTime();
        try (OverriddenInstance leasing = new OverriddenInstance(
                redis.port(),
                leases,
                "ratelimit.limits.quotes.algorithm=fixed-window",
                "ratelimit.limits.quotes.rate=1000000/h",
                "ratelimit.limits.quotes.lease=100")) {
            leasing.limiter().tryAcquire("alice");
            leasing.limiter().tryAcquire("alice");
            assertThat(remaining(leasing)).isEqualTo(1_000_000 - 2 - 100);
            leasing.admin()
                    .override(QUOTES, RateLimitOverride.builder().dryRun(true).build());
            await().atMost(Duration.ofSeconds(9)).until(() -> remaining(leasing) == 1_000_000 - 2);
        }
    }

    private static long remaining(OverriddenInstance instance) {
        return instance.admin().bucket(QUOTES, "alice").inspect().remaining();
    }
}
