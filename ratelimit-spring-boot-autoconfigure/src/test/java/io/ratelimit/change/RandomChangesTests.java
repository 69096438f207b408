package io.ratelimit.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three instances under load, whose limits change at random between three capacities, while Redis is killed and started again.
 * Nothing comes back meanwhile, so that a bucket admits no more than the largest capacity, and all of that.
 */
@Timeout(300)
class RandomChangesTests {

    private static final List<String> ALGORITHMS =
            List.of("token-bucket", "leaky-bucket", "fixed-window", "sliding-window-log");

    private static final int KEYS = 25;

    private static final long LARGEST = 20;

    /** As configured: 10. */
    private static final List<RateLimitOverride> CHANGES = List.of(
            RateLimitOverride.builder().capacity(5).build(),
            RateLimitOverride.builder().capacity(LARGEST).build());

    private final Random random = TestRandom.create(RandomChangesTests.class);

    private final RedisServer redis = RedisServer.loadingAtOnce();

    private final String[] properties = ALGORITHMS.stream()
            .flatMap(algorithm -> Stream.of(
                    "ratelimit.limits." + algorithm + ".algorithm=" + algorithm,
                    "ratelimit.limits." + algorithm + ".capacity=10",
                    "ratelimit.limits." + algorithm + ".rate=1/d"))
            .toArray(String[]::new);

    private List<OverriddenInstance> instances;

    private final AtomicBoolean over = new AtomicBoolean();

    /** What calls were admitted, and how many failed, which may have been charged. */
    private final Map<String, AtomicInteger> admitted = new ConcurrentHashMap<>();

    private final Map<String, AtomicInteger> failed = new ConcurrentHashMap<>();

    @BeforeEach
    void start() {
        instances = IntStream.range(0, 3)
                .mapToObj(i -> new OverriddenInstance(
                        redis.port(),
                        "random",
                        Stream.concat(
                                        Stream.of(properties),
                                        Stream.of("ratelimit.on-store-failure=throw", "ratelimit.redis.timeout=1s"))
                                .toArray(String[]::new)))
                .toList();
    }

    @AfterEach
    void stop() {
        over.set(true);
        instances.forEach(OverriddenInstance::close);
        redis.close();
    }

    @Test
    void allAgreeAndNoneAdmitsMoreThanTheLargestLimit() {
        List<CompletableFuture<Void>> load = instances.stream()
                .map(instance -> {
                    Random ofCaller = new Random(random.nextLong());
                    return CompletableFuture.runAsync(() -> call(instance, ofCaller));
                })
                .toList();
        int changes = TestRandom.cases(1_000);
        int outages = 0;
        for (int i = 0; i < changes; i++) {
            change(instances.get(random.nextInt(3)), ALGORITHMS.get(random.nextInt(ALGORITHMS.size())));
            if (i * 3 / changes > outages) {
                outages++;
                redis.kill();
                change(instances.get(random.nextInt(3)), ALGORITHMS.get(0));
                redis.restart();
            }
        }
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(instances)
                        .extracting(RandomChangesTests::effective)
                        .containsOnly(effective(instances.get(0))));
        over.set(true);
        CompletableFuture.allOf(load.toArray(CompletableFuture[]::new)).join();
        for (String algorithm : ALGORITHMS) {
            await().ignoreExceptions()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> instances.get(0).admin().override(algorithm, CHANGES.get(1)) != null);
            for (int key = 0; key < KEYS; key++) {
                assertUsedUp(algorithm, "key" + key);
            }
        }
    }

    /** The rest is still there, and no more. */
    private void assertUsedUp(String algorithm, String key) {
        RateLimiter limiter = instances.get(0).limiter(algorithm);
        String bucket = algorithm + " " + key;
        while (takes(limiter, key, bucket)) {
            Thread.onSpinWait();
        }
        long unknown = failed.getOrDefault(bucket, new AtomicInteger()).get();
        assertThat(admitted.getOrDefault(bucket, new AtomicInteger()).longValue())
                .as(bucket)
                .isBetween(LARGEST - unknown, LARGEST);
    }

    /** On a busy machine a call may be too late, here too. It is made again, and may have been charged if it was sent. */
    private boolean takes(RateLimiter limiter, String key, String bucket) {
        try {
            boolean allowed = limiter.tryAcquire(key).allowed();
            if (allowed) {
                count(admitted, bucket);
            }
            return allowed;
        } catch (RateLimitStoreException ex) {
            if (ex.getReason() != Reason.SHORT_CIRCUITED) {
                count(failed, bucket);
            }
            return true;
        }
    }

    private void change(OverriddenInstance instance, String limit) {
        int next = random.nextInt(CHANGES.size() + 1);
        try {
            if (next == CHANGES.size()) {
                instance.admin().removeOverride(limit);
            } else {
                instance.admin().override(limit, CHANGES.get(next));
            }
        } catch (RateLimitStoreException ex) {
            // Redis is away.
        }
    }

    private void call(OverriddenInstance instance, Random choice) {
        while (!over.get()) {
            String limit = ALGORITHMS.get(choice.nextInt(ALGORITHMS.size()));
            String key = "key" + choice.nextInt(KEYS);
            try {
                if (instance.limiter(limit).tryAcquire(key).allowed()) {
                    count(admitted, limit + " " + key);
                }
            } catch (RateLimitStoreException ex) {
                count(failed, limit + " " + key);
            }
        }
    }

    private static void count(Map<String, AtomicInteger> counts, String bucket) {
        counts.computeIfAbsent(bucket, first -> new AtomicInteger()).incrementAndGet();
    }

    private static Map<String, Long> effective(OverriddenInstance instance) {
        Map<String, Long> effective = new TreeMap<>();
        for (String limit : ALGORITHMS) {
            RateLimitStatus status = instance.admin().status(limit);
            effective.put(limit, status.effective().capacity());
        }
        return effective;
    }
}
