package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes asynchronous calls of all kinds at once while Redis hangs, and is killed and started again. Some are cancelled, and the
 * continuations of some throw. Each one ends, and no permit is kept.
 */
@Timeout(180)
@LongRunning
class AbandonedCallsTests {

    private static final List<String> LIMITS = List.of("tokens", "leaky", "leased", "held");

    private static final int CAPACITY = 20;

    private static final int KEYS = 3;

    private static final int CALLERS = 4;

    private final Random random = TestRandom.create(AbandonedCallsTests.class);

    private final int calls = TestRandom.cases(40_000) / CALLERS;

    private final Queue<CompletableFuture<?>> results = new ConcurrentLinkedQueue<>();

    private final Queue<CompletableFuture<?>> cancelled = new ConcurrentLinkedQueue<>();

    @Test
    void eachEndsAndNoneKeepsPermits() {
        try (RedisServer redis = RedisServer.loadingAtOnce()) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory("127.0.0.1", redis.port()))
                    .withPropertyValues(
                            "ratelimit.limits.tokens.rate=200/s",
                            "ratelimit.limits.leaky.algorithm=leaky-bucket",
                            "ratelimit.limits.leaky.rate=200/s",
                            "ratelimit.limits.leaky.max-wait=1s",
                            "ratelimit.limits.leased.rate=100/s",
                            "ratelimit.limits.leased.lease=10",
                            "ratelimit.limits.held.algorithm=concurrency",
                            "ratelimit.limits.held.capacity=" + CAPACITY,
                            "ratelimit.limits.held.max-wait=2s",
                            "ratelimit.limits.held.hold=2s")
                    .run(context -> {
                        RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
                        List<CompletableFuture<Void>> callers = IntStream.range(0, CALLERS)
                                .mapToLong(i -> random.nextLong())
                                .mapToObj(seed -> CompletableFuture.runAsync(() -> call(limiters, new Random(seed))))
                                .toList();
                        disturb(redis, callers);
                        callers.forEach(caller -> assertThat(caller).succeedsWithin(Duration.ofSeconds(60)));
                        assertThat(CompletableFuture.allOf(results.toArray(CompletableFuture[]::new))
                                        .handle((all, thrown) -> "ended"))
                                .succeedsWithin(Duration.ofSeconds(60));
                        assertThat(cancelled).isNotEmpty().allMatch(CompletableFuture::isDone);
                        for (int key = 0; key < KEYS; key++) {
                            RateLimiter held = limiters.get("held");
                            String name = "key" + key;
                            await("no permit is kept")
                                    .atMost(Duration.ofSeconds(60))
                                    .until(() -> held.peek(name).remaining() == CAPACITY);
                        }
                    });
        }
    }

    private static void disturb(RedisServer redis, List<CompletableFuture<Void>> callers) {
        CompletableFuture<?> all = CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new));
        redis.hang();
        redis.goOn();
        redis.kill();
        redis.restart();
        while (!all.isDone()) {
            redis.hang();
            redis.goOn();
        }
    }

    private void call(RateLimiterRegistry limiters, Random choice) {
        List<CompletableFuture<?>> mine = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            mine.add(start(limiters, choice));
            if (choice.nextInt(4) == 0) {
                CompletableFuture<?> one = mine.get(choice.nextInt(mine.size()));
                one.cancel(false);
                cancelled.add(one);
            }
        }
    }

    private CompletableFuture<?> start(RateLimiterRegistry limiters, Random choice) {
        String limit = LIMITS.get(choice.nextInt(LIMITS.size()));
        RateLimiter limiter = limiters.get(limit);
        String key = "key" + choice.nextInt(KEYS);
        CompletableFuture<?> call;
        if (limit.equals("held")) {
            CompletableFuture<RateLimiter.Entry> entered =
                    limiter.enterAsync(key, 1 + choice.nextInt(CAPACITY)).toCompletableFuture();
            results.add(entered.thenAccept(RateLimiter.Entry::close));
            call = entered;
        } else {
            call = switch (choice.nextInt(4)) {
                case 0 -> limiter.tryAcquireAsync(key, 1).toCompletableFuture();
                case 1 -> limiter.acquireAsync(key, 1).toCompletableFuture();
                case 2 -> limiter.chargeAsync(key, 1).toCompletableFuture();
                default -> limiter.peekAsync(key).toCompletableFuture();
            };
        }
        if (choice.nextInt(3) == 0) {
            results.add(call.whenComplete((result, thrown) -> {
                throw new AssertionError("of the application");
            }));
        }
        results.add(call);
        return call;
    }
}
