package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** While Redis hangs, calls are answered by {@code on-store-failure}, whether they block or not. */
@Timeout(180)
@LongRunning
class HangingRedisPolicyTests {

    private static final int CALLS = 2 * Instance.SMALL_CAPACITY;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RedisServer server = new RedisServer();

    private final List<Instance> instances = new ArrayList<>();

    @AfterEach
    void close() {
        instances.forEach(Instance::close);
        server.close();
    }

    @Test
    void local() {
        RateLimiter limiter = limiterOf(OnStoreFailure.LOCAL);
        server.hang();
        assertThat(answers(limiter).filter("allowed"::equals)).hasSize(Instance.SMALL_CAPACITY);
        assertThat(answers(limiter)).containsOnly("rejected");
        assertDecidedByRedisAgain(limiter);
    }

    @Test
    void allow() {
        RateLimiter limiter = limiterOf(OnStoreFailure.ALLOW);
        server.hang();
        assertThat(answers(limiter)).hasSize(CALLS).containsOnly("allowed");
        assertDecidedByRedisAgain(limiter);
    }

    @Test
    void reject() {
        RateLimiter limiter = limiterOf(OnStoreFailure.REJECT);
        server.hang();
        assertThat(answers(limiter)).hasSize(CALLS).containsOnly(RateLimitRefusedException.class.getSimpleName());
        assertDecidedByRedisAgain(limiter);
    }

    @Test
    void throwing() {
        RateLimiter limiter = limiterOf(OnStoreFailure.THROW);
        server.hang();
        assertThat(answers(limiter)).hasSize(CALLS).containsOnly(RateLimitStoreException.class.getSimpleName());
        assertDecidedByRedisAgain(limiter);
    }

    /** It has decided once. */
    private RateLimiter limiterOf(OnStoreFailure policy) {
        Instance instance = new Instance(
                Stream.concat(server.properties().stream(), Stream.of("ratelimit.on-store-failure=" + policy))
                        .toList());
        instances.add(instance);
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            instance.limiter(Instance.AMPLE).tryAcquire("first");
            return instance.decided() > 0;
        });
        return instance.limiter(Instance.SMALL);
    }

    /** In turns of one that blocks and one that does not. */
    private static Stream<String> answers(RateLimiter limiter) {
        return Stream.iterate(0, i -> i + 1).limit(CALLS).map(i -> i % 2 == 0 ? blocking(limiter) : async(limiter));
    }

    private static String blocking(RateLimiter limiter) {
        try {
            return answer(limiter.tryAcquire("key"));
        } catch (RateLimitStoreException ex) {
            return ex.getClass().getSimpleName();
        }
    }

    private static String async(RateLimiter limiter) {
        CompletableFuture<RateLimitDecision> call =
                limiter.tryAcquireAsync("key", 1).toCompletableFuture();
        return call.handle((decision, thrown) -> thrown == null ? answer(decision) : cause(thrown))
                .join();
    }

    private static String answer(RateLimitDecision decision) {
        return decision.allowed() ? "allowed" : "rejected";
    }

    private static String cause(Throwable thrown) {
        Throwable cause = thrown.getCause() instanceof RateLimitStoreException known ? known : thrown;
        return cause.getClass().getSimpleName();
    }

    /** What is used up there is rejected, and nothing is thrown. */
    private void assertDecidedByRedisAgain(RateLimiter limiter) {
        server.goOn();
        await("rejections by Redis")
                .atMost(PATIENCE)
                .until(() -> answers(limiter).allMatch("rejected"::equals)
                        && server.send("EXISTS", "ratelimit:{key}:small").equals(1L));
    }
}
