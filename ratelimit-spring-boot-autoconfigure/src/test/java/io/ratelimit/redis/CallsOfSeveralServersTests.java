package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Whatever a limit can do, on calls whose other limit is in another Redis server: each server has what is of its limits. */
@Timeout(180)
class CallsOfSeveralServersTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final String PREFIX = RedisUnderTest.newPrefix();

    private static RedisServer home;

    private static RedisServer eu;

    private static ConfigurableApplicationContext context;

    private static Calls calls;

    /** Of a test. */
    private String key = "";

    @BeforeAll
    static void start() {
        home = new RedisServer();
        eu = new RedisServer();
        context = application(home.port(), eu.port());
        calls = context.getBean(Calls.class);
    }

    @AfterAll
    static void stop() {
        context.close();
        home.close();
        eu.close();
    }

    @BeforeEach
    void nameKey(TestInfo test) {
        key = test.getTestMethod().orElseThrow().getName();
    }

    private static ConfigurableApplicationContext application(int home, int eu) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        "ratelimit.redis.url=redis://127.0.0.1:" + home,
                        "ratelimit.redis.eu.url=redis://127.0.0.1:" + eu,
                        "ratelimit.redis.key-prefix=" + PREFIX,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.on-store-failure=throw",
                        "ratelimit.limits.region.redis=eu",
                        "ratelimit.limits.region-running.redis=eu",
                        "ratelimit.limits.region-dry.redis=eu",
                        "ratelimit.limits.region-dry.dry-run=true",
                        "ratelimit.limits.region-blocking.redis=eu",
                        "ratelimit.limits.region-waiting.redis=eu",
                        "ratelimit.limits.region-queued.redis=eu",
                        "ratelimit.limits.region-plans.redis=eu",
                        "ratelimit.limits.region-plans.plans.small.capacity=2",
                        "ratelimit.limits.region-allow.redis=eu",
                        "ratelimit.limits.region-allow.on-store-failure=allow")
                .run();
    }

    @Test
    void actualCostIsSettledInTheServerOfEachLimit() {
        calls.settled(key, 4, 1);
        awaitRemaining("tenant", 9);
        awaitRemaining("region", 9);
        calls.settled(key, 2, 5);
        awaitRemaining("tenant", 4);
        awaitRemaining("region", 4);
        assertOnlyIn(home, eu, "tenant");
        assertOnlyIn(eu, home, "region");
    }

    @Test
    void costBeyondTheCapacityIsADebtInBothServers() {
        calls.settled(key, 1, 15);
        for (String limit : List.of("tenant", "region")) {
            await("debt of " + limit)
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(limiter(limit).peek(key).retryAfter()).isGreaterThan(Duration.ofMinutes(30)));
        }
        // By the one that was charged last.
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> calls.settled(key, 1, 1));
        limiter("tenant").reset(key);
        assertRejectedBy("region", () -> calls.settled(key, 1, 1));
        awaitRemaining("tenant", 10);
    }

    @Test
    void settlementOfOneLimitLeavesTheOther() {
        calls.settledInEu(key, 4, 1);
        awaitRemaining("region", 9);
        assertThat(remaining("tenant")).isEqualTo(6);
        limiter("region").charge(key, 3);
        assertThat(remaining("region")).isEqualTo(6);
        assertThat(remaining("tenant")).isEqualTo(6);
    }

    @Test
    void asynchronousCallIsSettledInBothServers() {
        assertThat(calls.settledLater(key, 4, 6).join()).isEqualTo(6);
        awaitRemaining("tenant", 4);
        awaitRemaining("region", 4);
    }

    @Test
    void refundGoesToTheLimitThatWantsIt() {
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> calls.refundedInEu(key));
        awaitRemaining("region", 10);
        assertThat(remaining("tenant")).isEqualTo(9);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> calls.refundedAtHome(key));
        awaitRemaining("tenant", 9);
        assertThat(remaining("region")).isEqualTo(9);
    }

    @Test
    void rejectionBlocksTheKeyInTheServerOfItsLimit() {
        for (int i = 0; i < 2; i++) {
            calls.blocking(key);
        }
        assertRejectedBy("region-blocking", () -> calls.blocking(key));
        assertThat(admin("region-blocking").inspect().blockedFor()).isPositive();
        awaitRemaining("tenant", 8);
        assertThat(admin("tenant").inspect().isBlocked()).isFalse();
        admin("region-blocking").grant(2);
        assertRejectedBy("region-blocking", () -> calls.blocking(key));
        admin("region-blocking").unblock();
        calls.blocking(key);
        awaitRemaining("tenant", 7);
    }

    @Test
    void rejectionByOneServerBlocksNothingInTheOther() {
        limiter("tenant").tryAcquire(key, 10);
        assertRejectedBy("tenant", () -> calls.blocking(key));
        await("refund").atMost(SOON).untilAsserted(() -> {
            BucketStatus region = admin("region-blocking").inspect();
            assertThat(region.isBlocked()).isFalse();
            assertThat(region.remaining()).isEqualTo(2);
        });
    }

    @Test
    void plansOfALimitShareItsBucketInItsServer() {
        calls.planned(key, null);
        calls.planned(key, "small");
        assertRejectedBy("region-plans", () -> calls.planned(key, "small"));
        awaitRemaining("tenant", 8);
        calls.planned(key, null);
        assertThat(remaining("region-plans")).isEqualTo(7);
        assertOnlyIn(eu, home, "region-plans");
    }

    @Test
    void callWaitsForTheLaterOfBothAndRejectionReturnsTheReservation() {
        RecordingWaiter waiter = context.getBean(RecordingWaiter.class);
        calls.waiting(key);
        waiter.delays().clear();
        calls.waiting(key);
        assertThat(waiter.delays())
                .singleElement()
                .satisfies(delay -> assertThat(delay).isBetween(Duration.ofMinutes(59), Duration.ofHours(1)));
        assertRejectedBy("two-at-home", () -> calls.waiting(key));
        limiter("two-at-home").reset(key);
        // With the reservation of the rejected call it would be three hours, longer than the call may wait.
        calls.waiting(key);
        assertThat(waiter.delays())
                .last()
                .satisfies(delay -> assertThat(delay).isBetween(Duration.ofMinutes(118), Duration.ofHours(2)));
    }

    @Test
    void dryRunInOneServerRejectsNothing() {
        for (int i = 0; i < 3; i++) {
            calls.dry(key);
        }
        assertThat(remaining("region-dry")).isZero();
        assertThat(remaining("tenant")).isEqualTo(7);
        limiter("tenant").tryAcquire(key, 7);
        limiter("region-dry").reset(key);
        assertRejectedBy("tenant", () -> calls.dry(key));
        assertThat(remaining("region-dry")).isZero();
    }

    @Test
    void permitsAreHeldInBothServersUntilTheCallEnds() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<Void> end = new CompletableFuture<>();
        CompletableFuture<Void> running = calls.running(key, started, end);
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(remaining("running")).isEqualTo(1);
        assertThat(remaining("region-running")).isZero();
        assertRejectedBy("region-running", () -> calls.runningNow(key, () -> {}));
        awaitRemaining("running", 1);
        end.complete(null);
        running.join();
        awaitRemaining("running", 2);
        awaitRemaining("region-running", 1);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> calls.runningNow(key, () -> {
                    throw new IllegalStateException("no report");
                }));
        awaitRemaining("running", 2);
        awaitRemaining("region-running", 1);
    }

    /** The messages are in the default server, the permits in the other. */
    @Test
    void permitReleasedByAnotherInstanceEndsTheWait() {
        try (ConfigurableApplicationContext other = application(home.port(), eu.port())) {
            RateLimiter.Entry held = limiter("region-queued").enter(key);
            RateLimiter there = other.getBean(RateLimiterRegistry.class).get("region-queued");
            await("subscriptions")
                    .atMost(SOON)
                    .until(() -> String.valueOf(home.send("PUBSUB", "NUMSUB", PREFIX + ":%changes"))
                            .endsWith("2]"));
            CompletableFuture<RateLimiter.Entry> waiting = there.enterAsync(key).toCompletableFuture();
            held.close();
            assertThat(waiting).succeedsWithin(SOON).satisfies(RateLimiter.Entry::close);
        }
    }

    @Test
    void operatorsChangeTheBucketInItsServerAndOverridesAreInTheDefaultOne() {
        RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
        limiter("region").tryAcquire(key, 9);
        assertThat(admin("region").inspect().remaining()).isEqualTo(1);
        assertThat(admin("region").grant(4).remaining()).isEqualTo(5);
        assertThat(admin("region").block(Duration.ofHours(1)).isBlocked()).isTrue();
        assertThat(limiter("region").tryAcquire(key).allowed()).isFalse();
        assertThat(admin("region").unblock().isBlocked()).isFalse();
        assertThat(limiter("region").tryAcquire(key).remaining()).isEqualTo(4);
        assertOnlyIn(eu, home, "region");
        admin("region").reset();
        assertThat(exists(eu, "region")).isFalse();
        RateLimitStatus changed = admin.override(
                "region", RateLimitOverride.builder().capacity(3L).build());
        try {
            assertThat(changed.effective().redis()).isEqualTo("eu");
            assertThat(limiter("region").tryAcquire(key).remaining()).isEqualTo(2);
            assertThat(keys(home, "*overrides")).contains("overrides");
            assertThat(keys(eu, "*overrides")).doesNotContain("overrides");
        } finally {
            admin.removeOverride("region");
        }
        assertThat(remaining("region")).isEqualTo(9);
    }

    /** What is in the lost server is left alone, and what is in the other goes on, whichever of them is lost. */
    @Test
    void settlementsAndOperatorsOfALimitNeedItsServerAlone() {
        try (RedisServer mortal = new RedisServer();
                ConfigurableApplicationContext application = application(home.port(), mortal.port())) {
            application.getBean(Calls.class).settledAfter(key, 4, 1, mortal::kill);
            awaitRemaining("tenant", 9);
        }
        try (RedisServer mortal = new RedisServer();
                ConfigurableApplicationContext application = application(mortal.port(), eu.port())) {
            Calls there = application.getBean(Calls.class);
            there.settledAfter(key, 4, 2, mortal::kill);
            RateLimitAdmin.Bucket bucket =
                    application.getBean(RateLimitAdmin.class).bucket("region-allow", key);
            await("settlement").atMost(SOON).until(() -> bucket.inspect().remaining() == 8);
            assertThat(bucket.grant(1).remaining()).isEqualTo(9);
            assertThat(bucket.block(Duration.ofHours(1)).isBlocked()).isTrue();
            assertThat(bucket.unblock().isBlocked()).isFalse();
            bucket.reset();
            assertThat(bucket.inspect().remaining()).isEqualTo(10);
        }
    }

    private static void assertRejectedBy(String limit, ThrowingCallable call) {
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(call)
                .extracting(RateLimitExceededException::getLimitName)
                .isEqualTo(limit);
    }

    /** Refunds and settlements are sent in the background. */
    private void awaitRemaining(String limit, long expected) {
        await("permits of " + limit)
                .atMost(SOON)
                .untilAsserted(() -> assertThat(remaining(limit)).isEqualTo(expected));
    }

    private long remaining(String limit) {
        RateLimitDecision decision = limiter(limit).peek(key);
        return decision.remaining();
    }

    private RateLimitAdmin.Bucket admin(String limit) {
        return context.getBean(RateLimitAdmin.class).bucket(limit, key);
    }

    private static RateLimiter limiter(String name) {
        return context.getBean(RateLimiterRegistry.class).get(name);
    }

    private void assertOnlyIn(RedisServer server, RedisServer other, String limit) {
        assertThat(exists(server, limit)).isTrue();
        assertThat(exists(other, limit)).isFalse();
    }

    private boolean exists(RedisServer server, String limit) {
        return keys(server, "{" + key + "}:" + limit.replace("-", "")).contains(key);
    }

    private static String keys(RedisServer server, String pattern) {
        return String.valueOf(server.send("KEYS", PREFIX + ":" + pattern));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    static class Application {

        @Bean
        Calls calls() {
            return new Calls();
        }

        /** A call that waits for permits of others does not try again by itself: only a message ends its wait. */
        @Bean
        RecordingWaiter waiter() {
            return new RecordingWaiter() {

                @Override
                public CompletionStage<Void> awaitAsync(Duration delay) {
                    return new CompletableFuture<>();
                }
            };
        }
    }

    static class Calls {

        private static final String RATE = "10/h";

        private static final String KEY = "#key";

        private static final String ESTIMATE = "#estimate";

        private static final String ACTUAL = "#result";

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        @RateLimited(name = "region", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        public long settled(String key, long estimate, long actual) {
            return actual;
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY, permits = ESTIMATE)
        @RateLimited(name = "region", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        public long settledInEu(String key, long estimate, long actual) {
            return actual;
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        @RateLimited(name = "region", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        public CompletableFuture<Long> settledLater(String key, long estimate, long actual) {
            return CompletableFuture.completedFuture(actual);
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        @RateLimited(name = "region-allow", rate = RATE, keyExpression = KEY, permits = ESTIMATE, permitsAfter = ACTUAL)
        public long settledAfter(String key, long estimate, long actual, Runnable work) {
            work.run();
            return actual;
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY)
        @RateLimited(name = "region", rate = RATE, keyExpression = KEY, refundOn = IllegalStateException.class)
        public void refundedInEu(String key) {
            throw new IllegalStateException("no report");
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY, refundOn = IllegalStateException.class)
        @RateLimited(name = "region", rate = RATE, keyExpression = KEY)
        public void refundedAtHome(String key) {
            throw new IllegalStateException("no report");
        }

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY)
        @RateLimited(name = "region-blocking", capacity = 2, rate = "2/h", keyExpression = KEY, blockFor = "1h")
        public void blocking(String key) {}

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY)
        @RateLimited(name = "region-plans", rate = RATE, keyExpression = KEY, planExpression = "#plan")
        public void planned(String key, String plan) {}

        @RateLimited(name = "two-at-home", capacity = 2, rate = "2/h", keyExpression = KEY)
        @RateLimited(name = "region-waiting", capacity = 1, rate = "1/h", keyExpression = KEY, maxWait = "2h")
        public void waiting(String key) {}

        @RateLimited(name = "tenant", rate = RATE, keyExpression = KEY)
        @RateLimited(name = "region-dry", capacity = 1, rate = "1/h", keyExpression = KEY)
        public void dry(String key) {}

        @RateLimited(name = "running", algorithm = Algorithm.CONCURRENCY, capacity = 2, keyExpression = KEY)
        @RateLimited(name = "region-running", algorithm = Algorithm.CONCURRENCY, capacity = 1, keyExpression = KEY)
        public CompletableFuture<Void> running(String key, CountDownLatch started, CompletableFuture<Void> end) {
            started.countDown();
            return end;
        }

        @RateLimited(name = "running", algorithm = Algorithm.CONCURRENCY, capacity = 2, keyExpression = KEY)
        @RateLimited(name = "region-running", algorithm = Algorithm.CONCURRENCY, capacity = 1, keyExpression = KEY)
        public void runningNow(String key, Runnable work) {
            work.run();
        }

        @RateLimited(
                name = "region-queued",
                algorithm = Algorithm.CONCURRENCY,
                capacity = 1,
                keyExpression = KEY,
                maxWait = "30s")
        public void queued(String key) {}
    }
}
