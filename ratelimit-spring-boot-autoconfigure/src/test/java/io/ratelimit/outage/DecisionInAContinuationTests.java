package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A blocking call on the thread that reads Redis' replies would wait for a reply that no thread reads. */
@Timeout(180)
@LongRunning
class DecisionInAContinuationTests {

    @Test
    void isRefusedThereAndRedisIsAskedOn() {
        try (RedisProcess server = RedisProcess.server();
                Instance instance = new Instance(List.of(
                        "spring.data.redis.host=" + RedisProcess.HOST,
                        "spring.data.redis.port=" + server.port(),
                        "ratelimit.redis.timeout=20s"))) {
            RateLimiter limiter = instance.limiter(Instance.AMPLE);
            Thread caller = Thread.currentThread();
            boolean refused = false;
            for (int i = 0; i < 1_000 && !refused; i++) {
                Thread[] ranOn = new Thread[1];
                CompletableFuture<RateLimitDecision> second = limiter.tryAcquireAsync("alice", 1)
                        .thenApply(first -> {
                            ranOn[0] = Thread.currentThread();
                            return limiter.tryAcquire("bob", 1);
                        })
                        .toCompletableFuture();
                if (second.handle((decision, thrown) -> ranOn[0] == caller).join()) {
                    // The answer was there before what follows it.
                    continue;
                }
                assertThat(second)
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .havingCause()
                        .isInstanceOf(IllegalStateException.class)
                        .withMessageContaining("tryAcquireAsync");
                refused = true;
            }
            assertThat(refused).isTrue();
            assertThat(limiter.tryAcquire("alice", 1).allowed()).isTrue();
            assertThat(instance.notDecided()).isZero();
        }
    }
}
