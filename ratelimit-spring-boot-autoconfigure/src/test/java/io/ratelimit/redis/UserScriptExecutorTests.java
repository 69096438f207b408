package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.redis.SharedRedis;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** An application's own executor runs the script, and its topology decides which server's circuit breaker a call counts for. */
@Timeout(180)
class UserScriptExecutorTests {

    private static final int HALF = 8_192;

    private final RedisClient client = RedisClient.create(
            "redis://" + SharedRedis.get().host() + ":" + SharedRedis.get().port());

    private final UserExecutor executor =
            new UserExecutor(client.connect(ByteArrayCodec.INSTANCE).async());

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withBean(RateLimitScriptExecutor.class, () -> executor)
            .withPropertyValues(
                    "ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix(),
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.quotes.rate=2/h");

    @AfterEach
    void close() {
        client.shutdown();
    }

    @Test
    void executorOfTheApplicationDecides() {
        application.run(context -> {
            assertThat(context).doesNotHaveBean(RedisConnector.class);
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("quotes");
            assertThat(Stream.generate(() -> limiter.tryAcquire("alice")).limit(3))
                    .extracting(RateLimitDecision::allowed)
                    .containsExactly(true, true, false);
            limiter.reset("alice");
            assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
        });
    }

    @Test
    void topologyOfTheApplicationTellsServersApart() {
        String lower = keyOf("lower");
        String upper = keyOf("upper");
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("quotes");
            executor.broken = "lower";
            assertThat(reasonOf(limiter, lower)).isEqualTo(Reason.OUT_OF_MEMORY);
            assertThat(reasonOf(limiter, lower)).isEqualTo(Reason.SHORT_CIRCUITED);
            assertThat(limiter.tryAcquire(upper).allowed()).isTrue();
        });
    }

    private static Reason reasonOf(RateLimiter limiter, String key) {
        Reason[] reason = new Reason[1];
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> limiter.tryAcquire(key))
                .satisfies(failure -> reason[0] = failure.getReason());
        return reason[0];
    }

    private static String keyOf(String server) {
        return Stream.iterate(0, i -> i + 1)
                .map(i -> "key" + i)
                .filter(key -> UserExecutor.server(ClusterSlot.of(key.getBytes(StandardCharsets.US_ASCII)))
                        .equals(server))
                .findFirst()
                .orElseThrow();
    }

    private static final class UserExecutor implements RateLimitScriptExecutor, RedisTopology {

        private final RedisAsyncCommands<byte[], byte[]> commands;

        private final byte[] script = RateLimitScript.load().getScriptAsString().getBytes(StandardCharsets.UTF_8);

        private volatile String broken = "none";

        UserExecutor(RedisAsyncCommands<byte[], byte[]> commands) {
            this.commands = commands;
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            return server(ClusterSlot.of(keys.get(0))).equals(broken)
                    ? CompletableFuture.failedFuture(new IllegalStateException("OOM command not allowed"))
                    : commands.eval(script, ScriptOutputType.MULTI, keys.toArray(byte[][]::new), arguments);
        }

        @Override
        public RedisTopology topology() {
            return this;
        }

        @Override
        public boolean isClustered() {
            return true;
        }

        @Override
        public String serverOf(int slot) {
            return server(slot);
        }

        @Override
        public Map<String, String> hashTags() {
            return Map.of("lower", keyOf("lower"), "upper", keyOf("upper"));
        }

        private static String server(int slot) {
            return slot < HALF ? "lower" : "upper";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
