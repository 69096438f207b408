package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What an instance without calls finds out about Redis, by checks alone. */
@Timeout(180)
@LongRunning
class IdleInstanceTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Nothing is closed, so that the driver cannot know. */
    @Test
    void connectionThatIsDeadIsReplacedWithoutACall() {
        try (FaultyProxy proxy = new FaultyProxy(SharedRedis.get().port());
                LogRecorder log = new LogRecorder("io.ratelimit.store")) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory("127.0.0.1", proxy.port()))
                    .withPropertyValues(
                            "ratelimit.limits.quotes.rate=9/h",
                            "ratelimit.redis.timeout=1s",
                            "ratelimit.on-store-failure=throw",
                            "ratelimit.redis.key-prefix=" + UUID.randomUUID())
                    .run(context -> {
                        StoreHealth health = context.getBean(StoreHealth.class);
                        await().atMost(PATIENCE).until(() -> health.failures().isEmpty());
                        int linesBefore = log.lines().size();
                        proxy.loseConnections();
                        assertThat(health.failures()).singleElement().satisfies(failure -> {
                            assertThat(failure.reason()).isEqualTo(Reason.TIMEOUT);
                            assertThat(failure.calls()).isZero();
                        });
                        await("another connection")
                                .atMost(PATIENCE)
                                .until(() -> health.failures().isEmpty());
                        assertThat(context.getBean(RateLimiterRegistry.class)
                                        .get("quotes")
                                        .tryAcquire("alice")
                                        .allowed())
                                .isTrue();
                        assertThat(log.lines().subList(linesBefore, log.lines().size()))
                                .startsWith(
                                        "Rate limit store does not answer checks (timeout: Redis: no answer in time);"
                                                + " no call has failed so far")
                                .endsWith("Rate limit store answers checks again");
                        assertThat(log.levels()).containsOnly("INFO");
                    });
        }
    }
}
