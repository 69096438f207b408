package io.ratelimit.documentation;

import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin;
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
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** An application with a limit for each feature. Of its ten permits a call takes six. */
final class EventStage implements AutoCloseable {

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private final List<AutoCloseable> ends = new ArrayList<>();

    final TestClock clock = new TestClock();

    private final boolean isShared;

    /**
     * @param redis {@code null}: in memory
     * @param further the Redis server of {@link FeatureLimits#SERVER}
     */
    EventStage(@Nullable RedisServer redis, @Nullable RedisServer further) {
        isShared = redis != null && further != null;
        List<String> properties =
                new ArrayList<>(redis == null ? List.of("ratelimit.store=in-memory") : redis.properties());
        if (further != null) {
            properties.add("ratelimit.redis.eu.url=redis://127.0.0.1:" + further.port());
        }
        properties.add("ratelimit.redis.timeout=5s");
        FeatureLimits.features()
                .filter(this::has)
                .flatMap(FeatureLimits::properties)
                .forEach(properties::add);
        TestPropertyValues.of(properties).applyTo(context);
        context.registerBean(TestClock.class, () -> clock);
        context.registerBean(OwnAlgorithms.Batches.class);
        context.registerBean(Calls.class);
        context.register(AutoConfigurations.getClasses(
                AutoConfigurations.of(DataRedisAutoConfiguration.class, RateLimitAutoConfiguration.class)));
        context.refresh();
    }

    boolean has(String feature) {
        return isShared || !feature.equals(FeatureLimits.SERVER);
    }

    RateLimitAdmin admin() {
        return context.getBean(RateLimitAdmin.class);
    }

    RateLimitAdmin.Bucket bucket(String feature, String key) {
        return admin().bucket(FeatureLimits.name(feature), key);
    }

    void override(String feature, long capacity) {
        admin().override(
                        FeatureLimits.name(feature),
                        RateLimitOverride.builder().capacity(capacity).build());
    }

    void removeOverride(String feature) {
        admin().removeOverride(FeatureLimits.name(feature), RateLimitAdmin.ANY_VERSION);
    }

    /** Changes {@code application.yml} under the running application. The rate of a calendar window is its capacity. */
    void refresh(String feature, long capacity) {
        List<String> properties =
                new ArrayList<>(List.of("ratelimit.limits." + FeatureLimits.name(feature) + ".capacity=" + capacity));
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
            limits().limiter("other").tryAcquire("anyone", 0);
            return health.failures().isEmpty() == shared;
        });
    }

    FeatureLimits limits() {
        return new FeatureLimits(context.getBean(RateLimiterRegistry.class));
    }

    /** A call takes six permits. What it holds, or is to be settled, ends with {@link #endCalls}. */
    void take(String feature, String key) {
        RateLimiter limiter = limits().limiter(feature);
        switch (feature) {
            case "concurrency" -> ends.add(limiter.enter(key, FeatureLimits.TAKEN));
            case "several limits" -> limits().registry().tryAcquireAll(FeatureLimits.both(key, FeatureLimits.TAKEN));
            case "lease" -> repeat(FeatureLimits.TAKEN + 1, () -> limiter.tryAcquire(key));
            case "plans" -> limiter.withPlan("gold").tryAcquire(key, FeatureLimits.TAKEN);
            case "blockFor" -> {
                limiter.tryAcquire(key, FeatureLimits.TAKEN);
                limiter.tryAcquire(key, FeatureLimits.TAKEN);
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
            default -> limiter.tryAcquire(key, FeatureLimits.TAKEN);
        }
    }

    private Calls calls() {
        return context.getBean(Calls.class);
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
