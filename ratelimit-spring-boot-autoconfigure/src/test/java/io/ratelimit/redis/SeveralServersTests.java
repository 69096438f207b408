package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisCluster;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;

/** {@code ratelimit.limits.<name>.redis}: limits in several Redis servers, also on one call. */
@LongRunning
@Timeout(300)
class SeveralServersTests extends SeveralServers {

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
}
