package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitPlan;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitPlanResolver;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Plans that a bean finds, as they are kept. */
class PlanCacheTests {

    private static final RateLimitPlan FREE = RateLimitPlan.named("free");

    private static final RateLimitPlan PRO = RateLimitPlan.named("pro");

    private final Map<String, RateLimitPlan> database = new HashMap<>(Map.of("alice", FREE));

    private final List<String> asked = new ArrayList<>();

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    private RuntimeException failure;

    private long nanos;

    private final PlanCache cache = cache(Duration.ofMillis(500), 100, this::resolve);

    private PlanCache cache(Duration timeout, int maxKeys, RateLimitPlanResolver resolver) {
        return new PlanCacheManager(Duration.ofMinutes(1), timeout, maxKeys, tasks::add, () -> nanos)
                .of("quotes", "plans", () -> resolver);
    }

    private RateLimitPlan resolve(String limit, String key) {
        assertThat(limit).isEqualTo("quotes");
        asked.add(key);
        if (failure != null) {
            throw failure;
        }
        return database.get(key);
    }

    private void work() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private void advance(Duration time) {
        nanos += time.toNanos();
    }

    @Test
    void beanIsAskedOnceForEachKeyInTheBackground() {
        assertThat(cache.find("alice")).isNull();
        assertThat(cache.find("alice")).isNull();
        assertThat(asked).isEmpty();
        work();
        assertThat(cache.find("alice")).isSameAs(FREE);
        advance(Duration.ofMinutes(1));
        assertThat(cache.find("alice")).isSameAs(FREE);
        assertThat(cache.find("bob")).isNull();
        work();
        assertThat(cache.find("bob")).isNull();
        assertThat(tasks).isEmpty();
        assertThat(asked).containsExactly("alice", "bob");
    }

    @Test
    void planThatIsOldAppliesWhileItIsAskedForAgain() {
        cache.find("alice");
        work();
        database.put("alice", PRO);
        advance(Duration.ofMinutes(1).plusNanos(1));
        assertThat(cache.await("alice")).isNull();
        assertThat(cache.find("alice")).isSameAs(FREE);
        work();
        assertThat(cache.find("alice")).isSameAs(PRO);
        database.remove("alice");
        advance(Duration.ofMinutes(1).plusNanos(1));
        cache.find("alice");
        work();
        assertThat(cache.find("alice")).isNull();
    }

    @Test
    void planThatIsNewOrTwiceAsOldIsWaitedFor() {
        CompletableFuture<?> first = cache.await("alice");
        assertThat(first).isNotDone();
        assertThat(cache.await("alice")).isNotDone();
        work();
        assertThat(first).isCompleted();
        assertThat(asked).hasSize(1);
        assertThat(cache.await("alice")).isNull();
        advance(Duration.ofMinutes(2));
        assertThat(cache.await("alice")).isNull();
        advance(Duration.ofNanos(1));
        CompletableFuture<?> later = cache.await("alice");
        assertThat(later).isNotDone();
        work();
        assertThat(later).isCompleted();
    }

    @Test
    void lastPlanAppliesWhileTheBeanFailsWhichIsAskedAgainLaterAndLater() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            cache.find("alice");
            work();
            failure = new IllegalStateException("alice's secret");
            advance(Duration.ofMinutes(3));
            for (int second = 0; second < 180; second++) {
                assertThat(cache.find("alice")).isSameAs(FREE);
                work();
                advance(Duration.ofSeconds(1));
            }
            // After 0, 1, 3, 7, 15, 31, 63 and 123 seconds.
            assertThat(asked).hasSize(1 + 8);
            failure = null;
            database.put("alice", PRO);
            advance(Duration.ofMinutes(1));
            cache.find("alice");
            work();
            assertThat(cache.find("alice")).isSameAs(PRO);
            assertThat(log.lines())
                    .containsExactly(
                            "Plans of rate limit 'quotes' cannot be resolved (java.lang.IllegalStateException); applying the"
                                    + " last known plan of each key, or the limit's own numbers",
                            "Plans of rate limit 'quotes' are resolved again");
        }
    }

    @Test
    void callThatWaitsForABeanThatFailsGoesOn() {
        failure = new IllegalStateException();
        CompletableFuture<?> waiting = cache.await("alice");
        work();
        assertThat(waiting).isCompleted();
        assertThat(cache.find("alice")).isNull();
        assertThat(cache.await("alice")).isNull();
    }

    @Test
    void afterAWaitThatWasTooShortNoCallWaitsUntilThereIsAnAnswer() throws Exception {
        PlanCache hasty = cache(Duration.ofMillis(1), 100, this::resolve);
        hasty.await("alice").get(60, TimeUnit.SECONDS);
        assertThat(hasty.await("bob")).isNull();
        advance(Duration.ofSeconds(9));
        assertThat(hasty.await("bob")).isNull();
        advance(Duration.ofSeconds(1));
        assertThat(hasty.await("bob")).isNotNull();
        work();
        assertThat(hasty.find("alice")).isSameAs(FREE);
        assertThat(hasty.await("carol")).isNotNull();
    }

    /** Others are answered, so that calls wait again, but not those of this key: each would wait, and the log tell of it. */
    @Test
    void planOfOneKeyThatIsSlowIsWaitedForOnce() throws Exception {
        CompletableFuture<RateLimitPlan> never = new CompletableFuture<>();
        PlanCache hasty = cache(Duration.ofMillis(1), 100, new RateLimitPlanResolver() {
            @Override
            public RateLimitPlan resolve(String limit, String key) {
                throw new AssertionError("must not be called");
            }

            @Override
            public CompletionStage<RateLimitPlan> resolveAsync(String limit, String key, Executor executor) {
                return key.equals("slow") ? never : CompletableFuture.completedFuture(PRO);
            }
        });
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            hasty.await("slow").get(60, TimeUnit.SECONDS);
            for (int call = 0; call < 100; call++) {
                assertThat(hasty.await("other" + call)).isNull();
                assertThat(hasty.find("other" + call)).isSameAs(PRO);
                assertThat(hasty.await("slow")).isNull();
            }
            assertThat(log.lines()).hasSize(2);
        }
        never.complete(FREE);
        assertThat(hasty.find("slow")).isSameAs(FREE);
    }

    @Test
    void resolverThatFailsForSomeKeysIsLoggedOnceAMinute() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            for (int second = 0; second < 90; second++) {
                failure = new IllegalStateException();
                cache.find("failing" + second);
                work();
                failure = null;
                cache.find("known" + second);
                work();
                advance(Duration.ofSeconds(1));
            }
            assertThat(log.lines()).hasSize(4);
        }
    }

    @Test
    void noCallWaitsIfTheTimeoutIsZero() {
        assertThat(cache(Duration.ZERO, 100, this::resolve).await("alice")).isNull();
        work();
        assertThat(asked).containsExactly("alice");
    }

    @Test
    void clientThatDoesNotBlockNeedsNoThread() throws TimeoutException {
        CompletableFuture<RateLimitPlan> answer = new CompletableFuture<>();
        PlanCache async = cache(Duration.ofMillis(500), 100, new RateLimitPlanResolver() {
            @Override
            public RateLimitPlan resolve(String limit, String key) {
                throw new AssertionError("must not be called");
            }

            @Override
            public CompletionStage<RateLimitPlan> resolveAsync(String limit, String key, Executor executor) {
                return answer;
            }
        });
        CompletableFuture<?> waiting = async.await("alice");
        assertThat(tasks).isEmpty();
        answer.complete(PRO);
        assertThat(waiting).isCompleted();
        assertThat(async.find("alice")).isSameAs(PRO);
    }

    @Test
    void resolverThatCannotBeAskedIsOneThatFails() {
        PlanCache broken = cache(Duration.ofMillis(500), 100, null);
        assertThat(broken.find("alice")).isNull();
        assertThat(broken.await("alice")).isNull();
    }

    @Test
    void plansOfAsManyKeysAreKeptAsConfigured() {
        PlanCache small = cache(Duration.ofMillis(500), 10, this::resolve);
        for (int key = 0; key < 1_000; key++) {
            small.find("key" + key);
            work();
        }
        asked.clear();
        small.find("key999");
        small.find("key0");
        work();
        assertThat(asked).containsExactly("key0");
    }

    @Test
    void longKeyIsAskedForAsItIsAndSharesNoPlan() {
        String text = "k".repeat(100_000);
        database.put(text, PRO);
        cache.find(text);
        work();
        assertThat(cache.find(text)).isSameAs(PRO);
        assertThat(cache.find(KeyDigest.of(text))).isNull();
        assertThat(cache.find(text + "k")).isNull();
        assertThat(asked).containsExactly(text);
    }
}
