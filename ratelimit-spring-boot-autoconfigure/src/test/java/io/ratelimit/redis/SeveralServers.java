package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

/** Two Redis servers, {@code home} and {@code eu}, and an application with a limit in each. */
abstract class SeveralServers {

    static final Duration SOON = Duration.ofSeconds(60);

    static RedisServer home;

    static RedisServer eu;

    final String prefix = RedisUnderTest.newPrefix();

    final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(Quotes.class)
            .withBean(Outages.class)
            .withPropertyValues(
                    "ratelimit.redis.key-prefix=" + prefix,
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.regional.redis=eu");

    final ApplicationContextRunner application = runner.withPropertyValues(
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

    ApplicationContextRunner viaEu(int port) {
        return runner.withPropertyValues(
                "ratelimit.redis.url=redis://127.0.0.1:" + home.port(),
                "ratelimit.redis.eu.url=redis://127.0.0.1:" + port);
    }

    static double state(MeterRegistry meters, String redis) {
        return meters.get("ratelimit.redis.state").tag("redis", redis).gauge().value();
    }

    static long failures(MeterRegistry meters, String redis) {
        return meters.get("ratelimit.store").tags("store", "redis", "redis", redis).timers().stream()
                .filter(timer -> !"success".equals(timer.getId().getTag("outcome")))
                .mapToLong(timer -> timer.count())
                .sum();
    }

    boolean exists(RedisServer server, String limit) {
        return "1".equals(String.valueOf(server.send("EXISTS", prefix + ":{alice}:" + limit)));
    }

    static void assertRejected(ApplicationContext context, String limit) {
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(context.getBean(Quotes.class)::both)
                .satisfies(rejection -> assertThat(rejection.getLimitName()).isEqualTo(limit));
    }

    /** Refunds are sent in the background. */
    static void awaitRemaining(ApplicationContext context, String limit, long remaining) {
        await("the refund of " + limit)
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(limiter(context, limit).peek("alice").remaining())
                                .isEqualTo(remaining));
    }

    static RateLimiter limiter(ApplicationContext context, String name) {
        return context.getBean(RateLimiterRegistry.class).get(name);
    }

    static class Outages {

        final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

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
