package io.ratelimit.redis.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.standalone.RateLimiters;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisStoreTests {

    /** A machine can be busy. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String name = "quotes-" + UUID.randomUUID();

    private final RateLimit limit =
            RateLimit.named(name).capacity(2).rate("2/m").build();

    @Test
    void storesShareTheBucketsOfTheirServer() {
        LettuceConnectionFactory connections = SharedRedis.get().connect();
        try (RedisStore one = RedisStore.over(connections, "standalone", PATIENCE);
                RedisStore other = RedisStore.over(connections, "standalone", PATIENCE)) {
            RateLimiter first = RateLimiters.over(one.store(), limit).get(name);
            RateLimiter second = RateLimiters.over(other.store(), limit).get(name);
            assertThat(first.tryAcquire("alice").allowed()).isTrue();
            assertThat(second.tryAcquire("alice").remaining()).isZero();
            assertThat(first.tryAcquire("alice").allowed()).isFalse();
        } finally {
            connections.destroy();
        }
    }

    @LongRunning
    @Test
    void programNeedsNoSpringBoot(@TempDir Path directory) throws Exception {
        Path output = directory.resolve("output");
        SharedRedis redis = SharedRedis.get();
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        RedisMain.class.getName(),
                        redis.host(),
                        Integer.toString(redis.port()),
                        name)
                .redirectError(directory.resolve("log").toFile())
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(program.waitFor(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            program.destroyForcibly();
        }
        assertThat(output).hasContent("true\ntrue\nfalse");
        assertThat(program.exitValue()).isZero();
    }
}
