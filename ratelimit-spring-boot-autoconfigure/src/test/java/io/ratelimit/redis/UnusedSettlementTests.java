package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.redis.RedisServer;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Costs known afterwards cost nothing where they are not used: one script for each call. */
@Timeout(180)
class UnusedSettlementTests {

    private static final int CALLS = 20;

    private static final List<String> SCRIPTS = List.of("fcall", "evalsha", "eval");

    private final RedisServer redis = new RedisServer();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, RateLimitAutoConfiguration.class))
            .withBean(Calls.class)
            .withPropertyValues("ratelimit.redis.timeout=20s", "ratelimit.statistics.enabled=false")
            .withPropertyValues(redis.properties().toArray(String[]::new));

    @AfterEach
    void stop() {
        redis.close();
    }

    private long scripts() {
        Properties stats = new StringRedisTemplate(redis.connections()).execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info("commandstats"));
        return SCRIPTS.stream()
                .mapToLong(command -> {
                    String line = stats.getProperty("cmdstat_" + command, "calls=0,");
                    return Long.parseLong(line.substring("calls=".length(), line.indexOf(',')));
                })
                .sum();
    }

    /** The least of some rounds, because the start-up sends scripts in the background. */
    private long scriptsOf(Runnable call) {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 3; round++) {
            long before = scripts();
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            least = Math.min(least, scripts() - before);
        }
        return least;
    }

    @Test
    void onlyCallsThatTurnOutOtherwiseAreSettled() {
        runner.run(context -> {
            Calls calls = context.getBean(Calls.class);
            assertThat(scriptsOf(calls::plain)).isEqualTo(CALLS);
            assertThat(scriptsOf(calls::refundable)).isEqualTo(CALLS);
            assertThat(scriptsOf(calls::asEstimated)).isEqualTo(CALLS);
            assertThat(scriptsOf(calls::cheaper)).isGreaterThan(CALLS);
        });
    }

    static class Calls {

        @RateLimited(name = "plain", rate = "1000/h", permits = "2")
        void plain() {}

        @RateLimited(name = "refundable", rate = "1000/h", permits = "2", refundOn = Exception.class)
        void refundable() {}

        @RateLimited(name = "as-estimated", rate = "1000/h", permits = "2", permitsAfter = "2")
        void asEstimated() {}

        @RateLimited(name = "cheaper", rate = "1000/h", permits = "2", permitsAfter = "1")
        void cheaper() {}
    }
}
