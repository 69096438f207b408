package io.ratelimit.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.redis.standalone.RedisStore;
import io.ratelimit.standalone.RateLimiters;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FreePorts;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Limits in Redis, and of a Redis that is down. Every limit but those that refuse has 100 tokens, and each call uses 30 of an estimate of 40. */
@LongRunning
@Timeout(180)
class RateLimitAdvisorInRedisTests {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final FakeChatModel model = new FakeChatModel();

    private final RateLimit[] limits = {
        limit("local", OnStoreFailure.LOCAL),
        limit("allow", OnStoreFailure.ALLOW),
        limit("reject", OnStoreFailure.REJECT),
        limit("throw", OnStoreFailure.THROW)
    };

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void usageIsSettledInRedis(boolean stream) {
        LettuceConnectionFactory connections = SharedRedis.get().connect();
        try (RedisStore redis = RedisStore.over(connections, "models-" + UUID.randomUUID(), PATIENCE)) {
            RateLimiterRegistry registry = RateLimiters.over(redis.store(), limits);
            ask(registry, "local", stream);
            await().untilAsserted(() -> assertThat(left(registry)).isEqualTo(70));
            ask(registry, "local", stream);
            await().untilAsserted(() -> assertThat(left(registry)).isEqualTo(40));
        } finally {
            connections.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void limitsOfARedisThatIsDownApplyTheirPolicy(boolean stream) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory("localhost", FreePorts.next());
        connections.start();
        try (RedisStore redis = RedisStore.over(connections, "models", Duration.ofMillis(100))) {
            RateLimiterRegistry registry = RateLimiters.over(redis.store(), limits);
            for (int i = 0; i < 3; i++) {
                ask(registry, "local", stream);
                ask(registry, "allow", stream);
            }
            assertThatExceptionOfType(RateLimitExceededException.class)
                    .isThrownBy(() -> ask(registry, "local", stream));
            ask(registry, "allow", stream);
            assertThatExceptionOfType(RateLimitRefusedException.class)
                    .isThrownBy(() -> ask(registry, "reject", stream));
            assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> ask(registry, "throw", stream));
            assertThat(model.calls).hasValue(7);
        } finally {
            connections.destroy();
        }
    }

    private void ask(RateLimiterRegistry registry, String limit, boolean stream) {
        ChatClient client = ChatClient.builder(model)
                .defaultAdvisors(RateLimitAdvisor.of(
                        registry, request -> List.of(new PermitRequest(limit, "alice", 40).asEstimate())))
                .build();
        if (stream) {
            client.prompt("question").stream().content().collectList().block(PATIENCE);
        } else {
            client.prompt("question").call().content();
        }
    }

    private static long left(RateLimiterRegistry registry) {
        return registry.get("local").peek("alice").remaining();
    }

    private static RateLimit limit(String name, OnStoreFailure policy) {
        return RateLimit.named(name).rate("100/d").onStoreFailure(policy).build();
    }
}
