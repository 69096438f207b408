package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

/** {@code ratelimit.limits.<name>.redis}: limits in several Redis servers, also on one call. */
@LongRunning
@Timeout(300)
class SeveralServersTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static RedisServer home;

    private static RedisServer eu;

    private final String prefix = RedisUnderTest.newPrefix();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(Quotes.class)
            .withBean(Outages.class)
            .withPropertyValues(
                    "ratelimit.redis.key-prefix=" + prefix,
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.regional.redis=eu");

    private final ApplicationContextRunner application = runner.withPropertyValues(
            "ratelimit.redis.url=redis://127.0.0.1:" + home.port(),
            "ratelimit.redis.eu.url=redis://127.0.0.1:" + eu.port());

    @BeforeAll
    static void start() {
        home = new RedisServer();
        eu = new RedisServer();
    }

    @AfterAll
    static void stop() {
        home.close();
        eu.close();
    }

    @Test
    void globalAndRegionalLimitOfOneCallAreInTheirServers() {
        application.run(context -> {
            context.getBean(Quotes.class).both();
            assertThat(exists(home, "global")).isTrue();
            assertThat(exists(home, "regional")).isFalse();
            assertThat(exists(eu, "regional")).isTrue();
            assertThat(exists(eu, "global")).isFalse();
            assertThat(context.getBean(MeterRegistry.class)
                            .get("ratelimit.store")
                            .tags("store", "redis", "redis", "eu", "outcome", "success")
                            .timer()
                            .count())
                    .isEqualTo(1);
            limiter(context, "regional").reset("alice");
            assertThat(exists(eu, "regional")).isFalse();
        });
    }

    @Test
    void allLimitsOrNoneAreCharged() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.both();
            quotes.both();
            assertRejected(context, "regional");
            awaitRemaining(context, "global", 2);
            quotes.global();
            quotes.global();
            limiter(context, "regional").reset("alice");
            assertRejected(context, "global");
            awaitRemaining(context, "regional", 2);
        });
    }

    @Test
    void asynchronousCallIsDecidedByBoth() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.later().join();
            quotes.later().join();
            assertThat(quotes.later())
                    .failsWithin(SOON)
                    .withThrowableThat()
                    .withCauseInstanceOf(RateLimitExceededException.class);
            awaitRemaining(context, "global", 2);
        });
    }

    @Test
    void failedCallRefundsBoth() {
        application.run(context -> {
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context.getBean(Quotes.class)::fails);
            awaitRemaining(context, "global", 4);
            awaitRemaining(context, "regional", 2);
        });
    }

    @Test
    void permitsOfRunningCallsAreHeldInTheirServer() {
        application
                .withBean(
                        "running",
                        RateLimit.class,
                        () -> RateLimit.named("running")
                                .algorithm(Algorithm.CONCURRENCY)
                                .capacity(1)
                                .redis("eu")
                                .build())
                .run(context -> {
                    RateLimiter running = limiter(context, "running");
                    RateLimiter.Entry held = running.enter("alice");
                    assertThat(String.valueOf(eu.send("KEYS", prefix + ":*running*")))
                            .contains("running");
                    assertThatExceptionOfType(RateLimitExceededException.class)
                            .isThrownBy(() -> running.enter("alice"));
                    held.close();
                    running.enter("alice").close();
                });
    }

    @Test
    void leasesAndOverridesAreOfTheLimitWhereverItIs() {
        application
                .withPropertyValues(
                        "ratelimit.limits.leased.rate=100/h",
                        "ratelimit.defaults.redis=eu",
                        "ratelimit.limits.leased.lease=50",
                        "ratelimit.limits.global.redis=default")
                .run(context -> {
                    RateLimiter leased = limiter(context, "leased");
                    for (int i = 0; i < 20; i++) {
                        assertThat(leased.tryAcquire("alice").allowed()).isTrue();
                    }
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    admin.override(
                            "regional", RateLimitOverride.builder().capacity(1L).build());
                    assertThat(limiter(context, "regional").peek("alice").capacity())
                            .isEqualTo(1);
                    assertThat(admin.bucket("leased", "alice").inspect().remaining())
                            .isLessThan(80);
                    assertThat(String.valueOf(eu.send("KEYS", prefix + ":*leased")))
                            .contains("leased");
                    assertThat(String.valueOf(home.send("KEYS", prefix + ":*overrides")))
                            .contains("overrides");
                });
    }

    /** An outage of one server is none of the other. */
    @Test
    void killedServerTouchesItsOwnLimitsAlone() {
        try (RedisServer mortal = new RedisServer();
                LogRecorder log = new LogRecorder("io.ratelimit.store")) {
            viaEu(mortal.port()).run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                quotes.both();
                mortal.kill();
                for (int i = 0; i < 20; i++) {
                    assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(quotes::both);
                    assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(quotes::regional);
                }
                awaitRemaining(context, "global", 3);
                quotes.global();
                assertThat(context.getBean(StoreHealth.class).lastFailures())
                        .extracting(StoreFailure::redis)
                        .containsExactly("eu");
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(failures(meters, "default")).isZero();
                assertThat(failures(meters, "eu")).isPositive();
                assertThat(meters.get("ratelimit.store.state").gauge().value()).isZero();
                assertThat(state(meters, "default")).isOne();
                assertThat(state(meters, "eu")).isZero();
                assertThat(log.text())
                        .contains("Rate limit store 'eu' unavailable")
                        .doesNotContain("'default'");
                Outages outages = context.getBean(Outages.class);
                assertThat(outages.next())
                        .isInstanceOfSatisfying(
                                RateLimitStoreFailureEvent.class,
                                event -> assertThat(event.redis()).isEqualTo("eu"));
                mortal.restart();
                await("the end of the outage")
                        .atMost(SOON)
                        .until(() ->
                                context.getBean(StoreHealth.class).failures().isEmpty());
                assertThat(outages.next())
                        .isInstanceOfSatisfying(
                                RateLimitStoreRecoveredEvent.class,
                                event -> assertThat(event.redis()).isEqualTo("eu"));
                assertThat(outages.events).isEmpty();
                assertThat(state(meters, "eu")).isOne();
            });
        }
    }

    /** A check is enough to know which one, so that health is right at night, too. */
    @Test
    void killedServerIsNamedWithoutACall() {
        try (RedisServer mortal = new RedisServer()) {
            viaEu(mortal.port()).run(context -> {
                mortal.kill();
                await("a check")
                        .atMost(SOON)
                        .untilAsserted(() -> assertThat(
                                        context.getBean(StoreHealth.class).failures())
                                .extracting(StoreFailure::redis)
                                .containsExactly("eu"));
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(state(meters, "default")).isOne();
                assertThat(state(meters, "eu")).isZero();
            });
        }
    }

    @Test
    void onlyServerHasNoMeterOfItsOwn() {
        runner.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + home.port())
                .withPropertyValues("ratelimit.limits.regional.redis=default")
                .run(context -> {
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    assertThat(meters.find("ratelimit.redis.state").gauge()).isNull();
                    assertThat(meters.get("ratelimit.store").timers())
                            .allSatisfy(timer ->
                                    assertThat(timer.getId().getTag("redis")).isNull());
                });
    }

    @Test
    void allTimersOfSeveralServersHaveTheSameTags() {
        application.run(context -> assertThat(context.getBean(MeterRegistry.class)
                        .get("ratelimit.store")
                        .timers())
                .extracting(timer ->
                        timer.getId().getTag("store") + " " + timer.getId().getTag("redis"))
                .containsOnly("redis default", "redis eu", "in_memory none"));
    }

    @Test
    void hangingServerIsGivenUpByItsOwnTimeout() {
        try (RedisServer slow = new RedisServer()) {
            viaEu(slow.port())
                    .withPropertyValues(
                            "ratelimit.redis.eu.timeout=200ms", "ratelimit.limits.regional.on-store-failure=allow")
                    .run(context -> {
                        Quotes quotes = context.getBean(Quotes.class);
                        quotes.both();
                        slow.hang();
                        for (int i = 0; i < 3; i++) {
                            quotes.both();
                        }
                        assertRejected(context, "global");
                        slow.goOn();
                        await("the end of the outage")
                                .atMost(SOON)
                                .until(() -> context.getBean(StoreHealth.class)
                                        .failures()
                                        .isEmpty());
                    });
        }
    }

    /** With a server 20 ms away, a limit of few permits and one of fewer: neither is exceeded, and the refunds agree. */
    @Test
    void threadsExceedNeitherLimitAndRefundsAgree() {
        try (FaultyProxy far = new FaultyProxy(home.port(), Duration.ofMillis(10))) {
            runner.withPropertyValues(
                            "ratelimit.redis.url=redis://127.0.0.1:" + far.port(),
                            "ratelimit.redis.eu.url=redis://127.0.0.1:" + eu.port(),
                            "ratelimit.redis.remember-rejections=false",
                            "ratelimit.limits.global.rate=150/h",
                            "ratelimit.limits.global.capacity=150",
                            "ratelimit.limits.regional.rate=100/h",
                            "ratelimit.limits.regional.capacity=100")
                    .run(context -> {
                        Quotes quotes = context.getBean(Quotes.class);
                        AtomicInteger number = new AtomicInteger();
                        long allowed = ParallelCalls.countAllowed(32, 8, thread -> () -> {
                            try {
                                if (number.incrementAndGet() % 2 == 0) {
                                    quotes.both();
                                } else {
                                    quotes.later().join();
                                }
                                return true;
                            } catch (RuntimeException ex) {
                                assertThat(ex.getCause() == null ? ex : ex.getCause())
                                        .isInstanceOf(RateLimitExceededException.class);
                                return false;
                            }
                        });
                        assertThat(allowed).isLessThanOrEqualTo(100);
                        awaitRemaining(context, "global", 150 - allowed);
                        awaitRemaining(context, "regional", 100 - allowed);
                    });
        }
    }

    @LongRunning
    @Test
    void clusterAndSingleServerDecideTogether() {
        try (RedisCluster cluster = RedisCluster.undisturbed()) {
            String nodes = cluster.properties().get(0).replace("spring.data.redis.", "ratelimit.redis.eu.");
            runner.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + home.port(), nodes)
                    .run(context -> {
                        Quotes quotes = context.getBean(Quotes.class);
                        quotes.both();
                        quotes.both();
                        assertRejected(context, "regional");
                        awaitRemaining(context, "global", 2);
                        assertThat(exists(home, "regional")).isFalse();
                    });
        }
    }

    /** A limit that is moved begins in the new server, and calls that hold permits release them where they are. */
    @Test
    void refreshedLimitMovesToAnotherServer() {
        application
                .withPropertyValues(
                        "ratelimit.limits.running.algorithm=concurrency",
                        "ratelimit.limits.running.capacity=1",
                        "ratelimit.limits.running.redis=eu")
                .run(context -> {
                    context.getBean(Quotes.class).regional();
                    RateLimiter.Entry held = limiter(context, "running").enter("alice");
                    refresh(
                            context,
                            "ratelimit.limits.regional.redis=default",
                            "ratelimit.limits.running.redis=default");
                    context.getBean(Quotes.class).regional();
                    assertThat(exists(home, "regional")).isTrue();
                    assertThat(limiter(context, "regional").peek("alice").remaining())
                            .isOne();
                    limiter(context, "running").enter("alice").close();
                    refresh(context, "ratelimit.limits.regional.redis=eu", "ratelimit.limits.running.redis=eu");
                    assertThat(limiter(context, "regional").peek("alice").remaining())
                            .isOne();
                    assertThatExceptionOfType(RateLimitExceededException.class)
                            .isThrownBy(() -> limiter(context, "running").enter("alice"));
                    held.close();
                    limiter(context, "running").enter("alice").close();
                });
    }

    @Test
    void refreshedLimitStaysIfItsServerIsNotConfigured() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(
                        context,
                        "ratelimit.redis.us.url=redis://127.0.0.1:" + home.port(),
                        "ratelimit.limits.regional.redis=us");
                assertThat(log.text())
                        .contains("WARNING Refreshed properties of rate limits are invalid (")
                        .contains("ratelimit.limits.regional.redis must name a Redis server of ratelimit.redis (was"
                                + " \"us\")")
                        .contains("keeping the present ones");
            }
            context.getBean(Quotes.class).regional();
            assertThat(exists(eu, "regional")).isTrue();
        });
    }

    private static void refresh(AssertableApplicationContext context, String... properties) {
        TestPropertyValues.of(properties).applyTo(context.getSourceApplicationContext());
        context.publishEvent(new EnvironmentChangeEvent(context));
    }

    @Test
    void restartedContextConnectsAgain() {
        application.run(context -> {
            context.getBean(Quotes.class).both();
            context.stop();
            context.start();
            context.getBean(Quotes.class).both();
            assertThat(limiter(context, "regional").peek("alice").remaining()).isZero();
        });
    }

    private ApplicationContextRunner viaEu(int port) {
        return runner.withPropertyValues(
                "ratelimit.redis.url=redis://127.0.0.1:" + home.port(),
                "ratelimit.redis.eu.url=redis://127.0.0.1:" + port);
    }

    private static double state(MeterRegistry meters, String redis) {
        return meters.get("ratelimit.redis.state").tag("redis", redis).gauge().value();
    }

    private static long failures(MeterRegistry meters, String redis) {
        return meters.get("ratelimit.store").tags("store", "redis", "redis", redis).timers().stream()
                .filter(timer -> !"success".equals(timer.getId().getTag("outcome")))
                .mapToLong(timer -> timer.count())
                .sum();
    }

    private boolean exists(RedisServer server, String limit) {
        return "1".equals(String.valueOf(server.send("EXISTS", prefix + ":{alice}:" + limit)));
    }

    private static void assertRejected(ApplicationContext context, String limit) {
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(context.getBean(Quotes.class)::both)
                .satisfies(rejection -> assertThat(rejection.getLimitName()).isEqualTo(limit));
    }

    /** Refunds are sent in the background. */
    private static void awaitRemaining(ApplicationContext context, String limit, long remaining) {
        await("the refund of " + limit)
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(limiter(context, limit).peek("alice").remaining())
                                .isEqualTo(remaining));
    }

    private static RateLimiter limiter(ApplicationContext context, String name) {
        return context.getBean(RateLimiterRegistry.class).get(name);
    }

    static class Outages {

        private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

        @EventListener({RateLimitStoreFailureEvent.class, RateLimitStoreRecoveredEvent.class})
        void on(Object event) {
            events.add(event);
        }

        Object next() throws InterruptedException {
            return events.poll(SOON.toSeconds(), TimeUnit.SECONDS);
        }
    }

    static class Quotes {

        private static final String KEY = "'alice'";

        @RateLimited(name = "global", rate = "4/h", keyExpression = KEY)
        public void global() {}

        @RateLimited(name = "regional", rate = "2/h", keyExpression = KEY)
        public void regional() {}

        @RateLimited(name = "global", rate = "4/h", keyExpression = KEY)
        @RateLimited(name = "regional", rate = "2/h", keyExpression = KEY)
        public void both() {}

        @RateLimited(name = "global", rate = "4/h", keyExpression = KEY)
        @RateLimited(name = "regional", rate = "2/h", keyExpression = KEY)
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("quote");
        }

        @RateLimited(name = "global", rate = "4/h", keyExpression = KEY, refundOn = IllegalStateException.class)
        @RateLimited(name = "regional", rate = "2/h", keyExpression = KEY, refundOn = IllegalStateException.class)
        public void fails() {
            throw new IllegalStateException("no quote");
        }
    }
}
