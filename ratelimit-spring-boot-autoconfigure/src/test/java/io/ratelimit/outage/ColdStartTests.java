package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application starts without its Redis, limits by itself, and shares its limits once Redis is there. */
@Timeout(180)
@LongRunning
class ColdStartTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RedisServer server = new RedisServer();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void connectionThatHangs() {
        try (FaultyProxy wire = new FaultyProxy(server.port())) {
            wire.swallow();
            try (Instance instance = new Instance(RedisServer.propertiesVia(wire.port()))) {
                assertLimitsByItself(instance);
                wire.pass();
                assertSharesItsLimits(instance);
            }
        }
    }

    @Test
    void serverThatHangs() {
        server.hang();
        try (Instance instance = new Instance(server.properties())) {
            assertLimitsByItself(instance);
            server.goOn();
            assertSharesItsLimits(instance);
        }
    }

    @Test
    void connectionThatIsRefused() {
        server.kill();
        try (Instance instance = new Instance(server.properties())) {
            assertLimitsByItself(instance);
            server.restart();
            assertSharesItsLimits(instance);
        }
    }

    @Test
    void serverThatDoesNotKnowUs() {
        server.lock();
        try (Instance instance = new Instance(server.properties())) {
            assertLimitsByItself(instance);
            server.unlock();
            assertSharesItsLimits(instance);
        }
    }

    private static void assertLimitsByItself(Instance instance) {
        RateLimiter limiter = instance.limiter(Instance.SMALL);
        for (int i = 0; i < Instance.SMALL_CAPACITY; i++) {
            assertThat(
                            i % 2 == 0
                                    ? limiter.tryAcquire("key").allowed()
                                    : limiter.tryAcquireAsync("key", 1)
                                            .toCompletableFuture()
                                            .join()
                                            .allowed())
                    .isTrue();
        }
        assertThat(limiter.tryAcquire("key").allowed()).isFalse();
        assertThat(instance.decided()).isZero();
    }

    private void assertSharesItsLimits(Instance instance) {
        await().atMost(PATIENCE).until(() -> {
            instance.limiter(Instance.AMPLE).tryAcquire("another");
            return instance.decided() > 0;
        });
        assertThat(server.send("EXISTS", "ratelimit:{another}:ample")).isEqualTo(1L);
        try (Instance other = new Instance(List.copyOf(server.properties()))) {
            long before = other.taken("shared");
            await().atMost(PATIENCE).until(() -> {
                instance.limiter(Instance.AMPLE).tryAcquire("shared");
                return other.taken("shared") > before;
            });
        }
    }
}
