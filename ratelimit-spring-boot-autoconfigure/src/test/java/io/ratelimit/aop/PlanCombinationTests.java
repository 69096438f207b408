package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.StoppedClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Plans of limits with other attributes. */
class PlanCombinationTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(Work.class, Work::new)
            .withPropertyValues(
                    "ratelimit.limits.answers.plans.pro.capacity=100",
                    "ratelimit.limits.exports.plans.pro.capacity=3",
                    "ratelimit.limits.quota.plans.pro.rate=5/month",
                    "ratelimit.limits.quota.plans.trial.rate=1/day");

    @Test
    void actualCostIsChargedByThePlanAndItsDebtIsThatOfTheKey() {
        runner.run(context -> {
            Work work = context.getBean(Work.class);
            RateLimiter own = context.getBean(RateLimiterRegistry.class).get("answers");
            work.answer("alice", "pro", 40);
            assertThat(own.withPlan("pro").peek("alice").remaining()).isEqualTo(60);
            assertRejected("answers", () -> work.answer("alice", null, 1));
            work.answer("bob", null, 15);
            assertThat(own.peek("bob").retryAfter()).hasMinutes(36);
            assertRejected("answers", () -> work.answer("bob", null, 1));
            work.answer("bob", "pro", 1);
            assertThat(own.withPlan("pro").peek("bob").remaining()).isEqualTo(84);
        });
    }

    @Test
    void permitsThatCallsHoldAreCountedForAllPlans() {
        runner.run(context -> {
            Work work = context.getBean(Work.class);
            CompletableFuture<String> first = new CompletableFuture<>();
            CompletableFuture<String> second = new CompletableFuture<>();
            assertThat(work.export("alice", "pro", first)).isNotDone();
            assertThat(work.export("alice", "pro", second)).isNotDone();
            assertThat(work.export("alice", null, second)).isCompletedExceptionally();
            first.complete("");
            assertThat(work.export("alice", null, second)).isCompletedExceptionally();
            assertThat(work.export("alice", "pro", second)).isNotDone();
            assertThat(work.export("alice", "pro", second)).isNotDone();
            assertThat(work.export("alice", "pro", second)).isCompletedExceptionally();
            assertThat(work.export("bob", null, second)).isNotDone();
            second.complete("");
            assertThat(work.export("alice", null, first)).isCompleted();
        });
    }

    /** The numbers of the code precede the limit's, and an override of the plan precedes those. */
    @ParameterizedTest
    @CsvSource({"pro, pro, 1", "contract, , "})
    void callWithAPlanOfTheCodeWaitsByTheNewNumbers(String plan, String overridden, Long capacity) {
        runner.withPropertyValues("ratelimit.limits.waiting.plans.pro.capacity=1")
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    RateLimitPlan ofCode = RateLimitPlan.named(plan).maxWait(Duration.ofSeconds(20));
                    RateLimitPlan numbers = capacity == null ? ofCode : ofCode.capacity(capacity);
                    CompletableFuture<String> end = new CompletableFuture<>();
                    assertThat(work.wait("alice", numbers, end)).isNotDone();
                    assertThat(work.wait("alice", numbers, end)).isNotDone();
                    assertThat(work.admitted()).isEqualTo(1);
                    RateLimitOverride larger =
                            RateLimitOverride.builder().capacity(2).build();
                    if (overridden == null) {
                        admin.override("waiting", larger);
                    } else {
                        admin.forPlan(overridden).override("waiting", larger);
                    }
                    await().untilAsserted(() -> assertThat(work.admitted()).isEqualTo(2));
                    end.complete("");
                });
    }

    @Test
    void plansHaveCalendarWindowsOfTheirOwnLength() {
        runner.run(context -> {
            Work work = context.getBean(Work.class);
            RateLimiter own = context.getBean(RateLimiterRegistry.class).get("quota");
            work.use("alice", null);
            work.use("alice", null);
            assertRejected("quota", () -> work.use("alice", null));
            work.use("alice", "pro");
            assertThat(own.withPlan("pro").peek("alice").remaining()).isEqualTo(2);
            assertThat(own.withPlan("pro").peek("alice").resetAfter())
                    .isEqualTo(Duration.ofDays(16).plusHours(16));
            assertRejected("quota", () -> work.use("alice", null));
            work.use("bob", "trial");
            assertRejected("quota", () -> work.use("bob", "trial"));
            assertThat(own.withPlan("trial").peek("bob").retryAfter()).hasHours(16);
            context.getBean(StoppedClock.class).advance(Duration.ofDays(17));
            work.use("alice", null);
            work.use("bob", "trial");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "exports.plans.pro.rate=1/s | must not be set for CONCURRENCY (was 1/s).",
                "exports.plans.pro.block-for=1m | must be 0 for CONCURRENCY, whose rejections end with a call (was 1m).",
                "quota.plans.pro.capacity=7 | must be the number in the rate 5/month, because a window is one month (was 7).",
                "answers.plans.pro.rate=5/month | must have a duration as its period for TOKEN_BUCKET"
            })
    void whatThePlanCannotHaveStopsTheStartUp(String property, String rule) {
        runner.withPropertyValues("ratelimit.limits." + property)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits." + property.substring(0, property.indexOf('=')) + " " + rule));
    }

    static class Work {

        private final AtomicInteger admitted = new AtomicInteger();

        public int admitted() {
            return admitted.get();
        }

        @RateLimited(
                name = "answers",
                rate = "10/h",
                keyExpression = "#user",
                planExpression = "#plan",
                permitsAfter = "#result")
        public int answer(String user, String plan, int cost) {
            return cost;
        }

        @RateLimited(
                name = "exports",
                algorithm = Algorithm.CONCURRENCY,
                capacity = 1,
                keyExpression = "#user",
                planExpression = "#plan")
        public CompletableFuture<String> export(String user, String plan, CompletableFuture<String> result) {
            return result;
        }

        @RateLimited(
                name = "waiting",
                algorithm = Algorithm.CONCURRENCY,
                capacity = 1,
                maxWait = "20s",
                keyExpression = "#user",
                planExpression = "#plan")
        public CompletableFuture<String> wait(String user, RateLimitPlan plan, CompletableFuture<String> end) {
            admitted.incrementAndGet();
            return end;
        }

        @RateLimited(
                name = "quota",
                algorithm = Algorithm.FIXED_WINDOW,
                rate = "2/month",
                keyExpression = "#user",
                planExpression = "#plan")
        public void use(String user, String plan) {}
    }
}
