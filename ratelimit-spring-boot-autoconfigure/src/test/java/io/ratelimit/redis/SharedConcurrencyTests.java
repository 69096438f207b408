package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Instances of an application that share concurrency limits through a real Redis. */
@BothTiers
@Timeout(300)
class SharedConcurrencyTests {

    private static final int INSTANCES = 2;

    private static final int THREADS = 8;

    private static final int CAPACITY = 5;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final String prefix = RedisUnderTest.newPrefix();

    private final List<AnnotationConfigApplicationContext> instances = new ArrayList<>();

    @AfterEach
    void stop() {
        instances.forEach(AnnotationConfigApplicationContext::close);
    }

    private RateLimiter start(String limit) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(
                        "ratelimit.redis.key-prefix=" + prefix,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.on-store-failure=throw",
                        "ratelimit.limits.single.algorithm=concurrency",
                        "ratelimit.limits.single.capacity=1",
                        "ratelimit.limits.waiting.algorithm=concurrency",
                        "ratelimit.limits.waiting.max-wait=60s",
                        "ratelimit.limits.waiting.capacity=" + CAPACITY)
                .applyTo(context);
        context.registerBean(
                LettuceConnectionFactory.class,
                () -> new LettuceConnectionFactory(
                        SharedRedis.get().host(), SharedRedis.get().port()));
        context.register(RateLimitAutoConfiguration.class);
        context.refresh();
        instances.add(context);
        return context.getBean(RateLimiterRegistry.class).get(limit);
    }

    @Test
    void releaseIsThereBeforeTheNextCallOfTheSameThread() {
        RateLimiter limiter = start("single");
        RateLimiter other = start("single");
        for (int i = 0; i < 100; i++) {
            RateLimiter.Entry entry = limiter.enter("alice");
            if (i % 10 == 0) {
                assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> limiter.enter("alice"));
                assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> other.enter("alice"));
            }
            entry.close();
        }
    }

    @Test
    void neverMoreThanTheCapacityAreAtWork() throws Exception {
        StringRedisTemplate counter = redis.commands();
        String key = prefix + " at work";
        int calls = TestRandom.cases(400);
        ExecutorService threads = Executors.newFixedThreadPool(INSTANCES * THREADS);
        List<Future<Long>> most = new ArrayList<>();
        for (int instance = 0; instance < INSTANCES; instance++) {
            RateLimiter limiter = start("waiting");
            Callable<Long> work = () -> {
                long seen = 0;
                for (int i = 0; i < calls; i++) {
                    seen = Math.max(seen, limiter.call("alice", () -> {
                        Long atWork = counter.opsForValue().increment(key);
                        counter.opsForValue().decrement(key);
                        return atWork;
                    }));
                }
                return seen;
            };
            for (int i = 0; i < THREADS; i++) {
                most.add(threads.submit(work));
            }
        }
        long seen = 0;
        for (Future<Long> thread : most) {
            seen = Math.max(seen, thread.get(100, TimeUnit.SECONDS));
        }
        threads.shutdown();
        assertThat(seen).isBetween(2L, (long) CAPACITY);
        assertThat(counter.opsForValue().get(key)).isEqualTo("0");
        // No call waits for the end of its release.
        await().untilAsserted(() ->
                assertThat(redis.commands().keys(prefix + ":{*%held")).isEmpty());
        assertThat(start("waiting").peek("alice").remaining()).isEqualTo(CAPACITY);
    }
}
