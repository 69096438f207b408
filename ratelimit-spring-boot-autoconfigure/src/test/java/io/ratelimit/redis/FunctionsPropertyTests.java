package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.redis.RedisProcess;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code ratelimit.redis.functions}. */
@Timeout(180)
@DisabledIf(value = "io.ratelimit.testing.redis.RedisProcess#isBefore7", disabledReason = "has no functions")
class FunctionsPropertyTests {

    private static RedisProcess redis;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.redis.url=redis://" + redis.address(),
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.quotes.rate=1000/h");

    @BeforeAll
    static void start() {
        redis = RedisProcess.server();
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @BeforeEach
    void forget() {
        redis.send("FUNCTION", "FLUSH");
        redis.send("CONFIG", "RESETSTAT");
    }

    @Test
    void callsRunAsAFunction() {
        application.run(context -> {
            RateLimiter quotes = context.getBean(RateLimiterRegistry.class).get("quotes");
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                quotes.tryAcquire("alice");
                return commands().contains("cmdstat_fcall:");
            });
        });
        assertThat(libraries()).contains("ratelimit");
    }

    @Test
    void switchedOffNothingIsLoadedAndCallsRunAsAScript() {
        application.withPropertyValues("ratelimit.redis.functions=false").run(context -> {
            RateLimiter quotes = context.getBean(RateLimiterRegistry.class).get("quotes");
            assertThat(quotes.tryAcquire("bob").allowed()).isTrue();
            assertThat(quotes.tryAcquire("bob").remaining()).isEqualTo(998);
            assertThat(commands()).contains("cmdstat_evalsha:").doesNotContain("cmdstat_fcall:", "function|load");
        });
        assertThat(libraries()).doesNotContain("ratelimit");
    }

    private static String commands() {
        return (String) redis.send("INFO", "commandstats");
    }

    private static String libraries() {
        return redis.send("FUNCTION", "LIST").toString();
    }
}
