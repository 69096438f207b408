package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Properties;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What has been done before anything that serves is started. */
@LongRunning
@Timeout(180)
class WarmUpTests {

    private static final int ENOUGH = 3;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final String prefix = RedisUnderTest.newPrefix();

    private final StringRedisTemplate template = new StringRedisTemplate(redis.connections());

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(FirstToServe.class, () -> new FirstToServe(template))
            .withPropertyValues("ratelimit.redis.key-prefix=" + prefix, "ratelimit.limits.quotes.rate=1/d");

    @Test
    void decisionsAreMadeBeforeAnythingServes() {
        long before = scripts(template);
        application
                .withBean(LettuceConnectionFactory.class, SharedRedis.get()::connect)
                .withPropertyValues("ratelimit.redis.timeout=20s")
                .run(context -> {
                    // Hundreds, unless the machine is busy. One is a probe.
                    assertThat(context.getBean(FirstToServe.class).scripts - before)
                            .isGreaterThanOrEqualTo(ENOUGH);
                    assertThat(context.getBean(RateLimiterRegistry.class)
                                    .get("quotes")
                                    .tryAcquire("alice")
                                    .remaining())
                            .isZero();
                    assertThat(context.getBean(StoreHealth.class).failures()).isEmpty();
                });
    }

    /** Also if they are created first, and the end of the start-up is far away. */
    @Test
    void decisionsAreMadeWhileTheBeansOfTheApplicationAreCreated() {
        long before = scripts(template);
        new ApplicationContextRunner()
                .withBean(SlowToStart.class, () -> new SlowToStart(() -> scripts(template) - before))
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(LettuceConnectionFactory.class, SharedRedis.get()::connect)
                .withPropertyValues("ratelimit.redis.key-prefix=" + prefix)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void nothingOfItStaysInRedis() {
        application
                .withBean(LettuceConnectionFactory.class, SharedRedis.get()::connect)
                .run(context ->
                        await().until(() -> template.keys(prefix + ":*"), keys -> keys != null && keys.isEmpty()));
    }

    @Test
    void withoutRedisTheStartUpIsNotHeldUp() {
        application
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** It accepts connections, and says nothing. The start-up waits two seconds; what is beyond that is the machine's. */
    @Test
    void redisThatHangsHoldsTheStartUpUpForABoundedTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            long start = System.nanoTime();
            application
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory("127.0.0.1", silent.getLocalPort()))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
                    });
        }
    }

    private static long scripts(StringRedisTemplate redis) {
        Properties stats =
                redis.execute(connection -> connection.serverCommands().info("commandstats"), true);
        return stats.stringPropertyNames().stream()
                .filter(name -> name.startsWith("cmdstat_eval") || name.equals("cmdstat_fcall"))
                .mapToLong(name -> Long.parseLong(
                        stats.getProperty(name).replaceAll("^calls=", "").replaceAll(",.*$", "")))
                .sum();
    }

    /** Ends its creation once there are enough scripts. */
    static final class SlowToStart {

        SlowToStart(LongSupplier scripts) {
            await().atMost(Duration.ofSeconds(60)).until(() -> scripts.getAsLong() >= ENOUGH);
        }
    }

    /** Of the first phase of all. */
    static final class FirstToServe implements SmartLifecycle {

        private final StringRedisTemplate redis;

        private long scripts;

        FirstToServe(StringRedisTemplate redis) {
            this.redis = redis;
        }

        @Override
        public void start() {
            scripts = scripts(redis);
        }

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return scripts > 0;
        }

        @Override
        public int getPhase() {
            return Integer.MIN_VALUE;
        }
    }
}
