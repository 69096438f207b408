package io.ratelimit.documentation;

import static org.awaitility.Awaitility.await;

import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.OwnAlgorithms;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.redis.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** An application with a limit for each feature. Of its ten permits a call takes six; nothing comes back by time. */
final class EventStage implements AutoCloseable {

    static final int TAKEN = 6;

    /** The feature that memory does not have: a limit in a further Redis server. */
    static final String SERVER = "server";

    /** More than any limit has. */
    private static final int MANY = 30;

    private static final Map<String, List<String>> LIMITS = Map.ofEntries(
            Map.entry("token bucket", List.of()),
            Map.entry("interval", List.of("refill=interval")),
            Map.entry("leaky bucket", List.of("algorithm=leaky-bucket")),
            Map.entry("fixed window", List.of("algorithm=fixed-window")),
            Map.entry("calendar", List.of("algorithm=fixed-window", "rate=10/year")),
            Map.entry("sliding window", List.of("algorithm=sliding-window")),
            Map.entry("log", List.of("algorithm=sliding-window-log")),
            Map.entry("own", List.of("algorithm=batches")),
            Map.entry("concurrency", List.of("algorithm=concurrency", "rate=")),
            Map.entry("several limits", List.of()),
            Map.entry("maxWait", List.of("max-wait=1ms")),
            Map.entry("lease", List.of("lease=3")),
            Map.entry("blockFor", List.of("block-for=1h")),
            Map.entry("plans", List.of("plans.gold.max-wait=1ms")),
            Map.entry("permitsAfter", List.of()),
            Map.entry("refundOn", List.of()),
            Map.entry("instance", List.of("scope=instance")),
            Map.entry(SERVER, List.of("redis=eu")),
            Map.entry("rejection cache", List.of()),
            Map.entry("dry run", List.of("dry-run=true")));

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private final List<AutoCloseable> ends = new ArrayList<>();

    final TestClock clock = new TestClock();

    private final boolean isShared;

    /**
     * @param redis {@code null}: in memory
     * @param further the Redis server of {@link #SERVER}
     */
    EventStage(@Nullable RedisServer redis, @Nullable RedisServer further) {
        isShared = redis != null && further != null;
        List<String> properties =
                new ArrayList<>(redis == null ? List.of("ratelimit.store=in-memory") : redis.properties());
        if (further != null) {
            properties.add("ratelimit.redis.eu.url=redis://127.0.0.1:" + further.port());
        }
        properties.add("ratelimit.redis.timeout=5s");
        features().filter(this::has).forEach(feature -> {
            List<String> own = LIMITS.get(feature);
            String prefix = "ratelimit.limits." + name(feature) + ".";
            Stream<String> numbers =
                    own.contains("rate=") ? Stream.of("capacity=10") : Stream.of("capacity=10", "rate=10/d");
            Stream.concat(numbers, own.stream().filter(property -> !property.equals("rate=")))
                    .forEach(property -> properties.add(prefix + property));
        });
        properties.add("ratelimit.limits.other.rate=30/d");
        TestPropertyValues.of(properties).applyTo(context);
        context.registerBean(TestClock.class, () -> clock);
        context.registerBean(OwnAlgorithms.Batches.class);
        context.registerBean(Calls.class);
        context.register(AutoConfigurations.getClasses(
                AutoConfigurations.of(DataRedisAutoConfiguration.class, RateLimitAutoConfiguration.class)));
        context.refresh();
    }

    static Stream<String> features() {
        return LIMITS.keySet().stream().sorted();
    }

    boolean has(String feature) {
        return isShared || !feature.equals(SERVER);
    }

    private static String name(String feature) {
        return feature.toLowerCase(Locale.ROOT).replace(' ', '-');
    }

    RateLimitAdmin admin() {
        return context.getBean(RateLimitAdmin.class);
    }

    RateLimitAdmin.Bucket bucket(String feature, String key) {
        return admin().bucket(name(feature), key);
    }

    void override(String feature, long capacity) {
        admin().override(
                        name(feature),
                        RateLimitOverride.builder().capacity(capacity).build());
    }

    void removeOverride(String feature) {
        admin().removeOverride(name(feature), RateLimitAdmin.ANY_VERSION);
    }

    /** Changes {@code application.yml} under the running application. The rate of a calendar window is its capacity. */
    void refresh(String feature, long capacity) {
        List<String> properties =
                new ArrayList<>(List.of("ratelimit.limits." + name(feature) + ".capacity=" + capacity));
        if (feature.equals("calendar")) {
            properties.add("ratelimit.limits.calendar.rate=" + capacity + "/year");
        }
        TestPropertyValues.of(properties).applyTo(context);
        context.publishEvent(new EnvironmentChangeEvent(context));
    }

    /** Waits until Redis decides, or does not. */
    void awaitShared(boolean shared) {
        StoreHealth health = context.getBean(StoreHealth.class);
        await().until(() -> {
            limiter("other").tryAcquire("anyone", 0);
            return health.failures().isEmpty() == shared;
        });
    }

    private RateLimiter limiter(String feature) {
        return context.getBean(RateLimiterRegistry.class).get(name(feature));
    }

    /** A call takes six permits. What it holds, or is to be settled, ends with {@link #endCalls}. */
    void take(String feature, String key) {
        RateLimiter limiter = limiter(feature);
        switch (feature) {
            case "concurrency" -> ends.add(limiter.enter(key, TAKEN));
            case "several limits" -> registry().tryAcquireAll(both(key, TAKEN));
            case "lease" -> repeat(TAKEN + 1, () -> limiter.tryAcquire(key));
            case "plans" -> limiter.withPlan("gold").tryAcquire(key, TAKEN);
            case "blockFor" -> {
                limiter.tryAcquire(key, TAKEN);
                limiter.tryAcquire(key, TAKEN);
            }
            case "rejection cache" -> {
                limiter.tryAcquire(key, 10);
                limiter.tryAcquire(key);
            }
            case "permitsAfter" -> {
                CompletableFuture<Integer> cost = new CompletableFuture<>();
                CompletableFuture<Integer> call = calls().costs(key, cost);
                ends.add(() -> {
                    cost.complete(2);
                    call.join();
                });
            }
            case "refundOn" -> {
                CompletableFuture<Integer> work = new CompletableFuture<>();
                CompletableFuture<Integer> call = calls().fails(key, work);
                ends.add(() -> {
                    work.completeExceptionally(new IllegalStateException());
                    call.handle((done, thrown) -> true).join();
                });
            }
            default -> limiter.tryAcquire(key, TAKEN);
        }
    }

    private Calls calls() {
        return context.getBean(Calls.class);
    }

    private RateLimiterRegistry registry() {
        return context.getBean(RateLimiterRegistry.class);
    }

    private static List<PermitRequest> both(String key, long permits) {
        return List.of(
                new PermitRequest("several-limits", key, permits, false),
                new PermitRequest("other", key, permits, false));
    }

    private static void repeat(int times, Runnable task) {
        for (int i = 0; i < times; i++) {
            task.run();
        }
    }

    /** Ends the calls whose costs are settled at their ends. */
    void endCalls() throws Exception {
        for (AutoCloseable end : ends) {
            if (!(end instanceof RateLimiter.Entry)) {
                end.close();
            }
        }
        ends.removeIf(end -> !(end instanceof RateLimiter.Entry));
    }

    long remaining(String feature, String key) {
        return limiter(feature).peek(key).remaining();
    }

    /** Returns how many calls for a permit each are admitted; of a limit in dry run, how many permits are left. */
    long admitted(String feature, String key) {
        RateLimiter limiter = limiter(feature);
        if (feature.equals("dry run")) {
            return limiter.peek(key).remaining();
        }
        if (feature.equals("concurrency")) {
            return entered(limiter, key);
        }
        for (int i = 0; i < MANY; i++) {
            boolean allowed = feature.equals("several limits")
                    ? registry().tryAcquireAll(both(key, 1)).allowed()
                    : limiter.tryAcquire(key).allowed();
            if (!allowed) {
                return i;
            }
        }
        return MANY;
    }

    private static long entered(RateLimiter limiter, String key) {
        List<RateLimiter.Entry> entries = new ArrayList<>();
        try {
            while (entries.size() < MANY) {
                entries.add(limiter.enter(key));
            }
        } catch (RateLimitExceededException ex) {
            // As many as there are.
        }
        entries.forEach(RateLimiter.Entry::close);
        return entries.size();
    }

    @Override
    public void close() {
        context.close();
    }

    /** Calls that cost what is known when they end. */
    static class Calls {

        @RateLimited(name = "permitsafter", keyExpression = "#key", permits = "6", permitsAfter = "#result")
        public CompletableFuture<Integer> costs(String key, CompletableFuture<Integer> cost) {
            return cost.thenApply(same -> same);
        }

        @RateLimited(name = "refundon", keyExpression = "#key", permits = "6", refundOn = IllegalStateException.class)
        public CompletableFuture<Integer> fails(String key, CompletableFuture<Integer> work) {
            return work.thenApply(same -> same);
        }
    }
}
