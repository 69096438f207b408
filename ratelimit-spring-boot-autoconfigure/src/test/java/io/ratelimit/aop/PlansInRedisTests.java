package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.PlanCombinationTests.Work;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Plans on two instances that share a Redis. */
@Timeout(180)
class PlansInRedisTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final int LEASE = 10;

    private static List<AnnotationConfigApplicationContext> instances;

    @BeforeAll
    static void start() {
        String prefix = "plans-" + System.nanoTime();
        instances = List.of(instance(prefix), instance(prefix));
    }

    private static AnnotationConfigApplicationContext instance(String prefix) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(
                        "ratelimit.redis.host=" + SharedRedis.get().host(),
                        "ratelimit.redis.port=" + SharedRedis.get().port(),
                        "ratelimit.redis.key-prefix=" + prefix,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.limits.answers.plans.pro.capacity=100",
                        "ratelimit.limits.exports.plans.pro.capacity=3",
                        "ratelimit.limits.leased.lease=" + LEASE,
                        "ratelimit.limits.leased.plans.free.capacity=20",
                        "ratelimit.limits.leased.plans.pro.capacity=1000")
                .applyTo(context);
        context.registerBean(Work.class, Work::new);
        context.registerBean(Leased.class, Leased::new);
        context.register(AutoConfigurations.getClasses(AutoConfigurations.of(RateLimitAutoConfiguration.class)));
        context.refresh();
        return context;
    }

    @AfterAll
    static void stop() {
        instances.forEach(AnnotationConfigApplicationContext::close);
    }

    private static Work work(int instance) {
        return instances.get(instance).getBean(Work.class);
    }

    @Test
    void actualCostIsChargedByThePlanAndItsDebtIsThatOfTheKey() {
        RateLimiter own = instances.get(1).getBean(RateLimiterRegistry.class).get("answers");
        work(0).answer("alice", "pro", 40);
        await().atMost(SOON).until(() -> own.withPlan("pro").peek("alice").remaining() == 60);
        assertRejected("answers", () -> work(1).answer("alice", null, 1));
        work(0).answer("bob", null, 15);
        await().atMost(SOON).until(() -> own.peek("bob").retryAfter().compareTo(Duration.ofMinutes(30)) > 0);
        assertRejected("answers", () -> work(1).answer("bob", null, 1));
        work(1).answer("bob", "pro", 1);
        assertThat(own.withPlan("pro").peek("bob").remaining()).isEqualTo(84);
    }

    @Test
    void permitsThatCallsHoldAreCountedForAllPlansOfAllInstances() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();
        assertThat(work(0).export("alice", "pro", first)).isNotDone();
        CompletableFuture<String> held = work(1).export("alice", "pro", second);
        await().atMost(SOON).until(() -> holds("alice") == 2);
        assertRejected("exports", work(0).export("alice", null, second));
        first.complete("");
        await().atMost(SOON).until(() -> holds("alice") == 1);
        assertRejected("exports", work(1).export("alice", null, second));
        assertThat(work(0).export("alice", "pro", second)).isNotDone();
        assertThat(work(1).export("alice", "pro", second)).isNotDone();
        await().atMost(SOON).until(() -> holds("alice") == 3);
        assertRejected("exports", work(0).export("alice", "pro", second));
        second.complete("");
        assertThat(held).succeedsWithin(SOON);
        await().atMost(SOON).until(() -> holds("alice") == 0);
        assertThat(work(1).export("alice", null, first)).succeedsWithin(SOON);
    }

    private static long holds(String key) {
        return 3
                - instances
                        .get(0)
                        .getBean(RateLimiterRegistry.class)
                        .get("exports")
                        .withPlan("pro")
                        .peek(key)
                        .remaining();
    }

    /** Neither permits that were leased by a plan nor rejections that are remembered of it apply after it. */
    @Test
    void changeOfThePlanAppliesToTheNextCallOfEachInstance() {
        int admitted = 0;
        while (callBoth("free")) {
            admitted++;
        }
        for (int change = 0; change < 10; change++) {
            for (int instance = 0; instance < 2; instance++) {
                assertThat(call(instance, "free")).as("change %s", change).isFalse();
            }
            for (int instance = 0; instance < 2; instance++) {
                assertThat(call(instance, "pro")).as("change %s", change).isTrue();
            }
        }
        assertThat(admitted).isPositive();
        assertThat(Leased.calls).hasValueGreaterThanOrEqualTo(20);
        while (callBoth("pro")) {
            assertThat(Leased.calls).hasValueLessThanOrEqualTo(1_000);
        }
        // A lease whose rule others have adopted comes back by time.
        assertThat(Leased.calls).hasValueBetween(1_000 - 2 * 10 * LEASE, 1_000);
        assertThat(call(0, "free")).isFalse();
    }

    /** Returns whether one of the instances has admitted its call. */
    private boolean callBoth(String plan) {
        boolean first = call(0, plan);
        boolean second = call(1, plan);
        return first || second;
    }

    private static boolean call(int instance, String plan) {
        try {
            instances.get(instance).getBean(Leased.class).call("carol", plan);
            return true;
        } catch (RateLimitExceededException ex) {
            return false;
        }
    }

    static class Leased {

        private static final AtomicInteger calls = new AtomicInteger();

        @RateLimited(name = "leased", rate = "20/d", keyExpression = "#user", planExpression = "#plan")
        public void call(String user, String plan) {
            calls.incrementAndGet();
        }
    }
}
