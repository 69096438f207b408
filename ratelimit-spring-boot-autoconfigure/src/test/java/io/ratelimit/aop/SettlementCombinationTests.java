package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitPlanResolver;
import io.ratelimit.testing.LongRunning;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** Plans and costs of methods with transactions, of {@code @Async} methods, and on virtual threads. An estimate is 10 of 100,000. */
@Timeout(180)
class SettlementCombinationTests {

    private static final int CALLS = 2_000;

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withUserConfiguration(Config.class)
            .withBean(Calls.class)
            .withPropertyValues(
                    "ratelimit.limits.planned.plans.small.capacity=50",
                    "ratelimit.limits.resolved.plans.small.capacity=50");

    private static long used(RateLimiterRegistry limiters, String limit) {
        return 100_000 - limiters.get(limit).peek("alice").remaining();
    }

    /** The transaction is part of the call, so that its rollback is the failure of the call. */
    @Test
    void rollbackIsAFailure() {
        runner.run(context -> {
            Calls calls = context.getBean(Calls.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            assertThatThrownBy(() -> calls.saved("alice", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(used(limiters, "saved")).isEqualTo(4);
            assertThatThrownBy(() -> calls.estimated("alice", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(used(limiters, "estimated")).isEqualTo(10);
            assertThatThrownBy(() -> calls.refunded("alice", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(used(limiters, "refunded")).isZero();
            calls.saved("alice", 30);
            assertThat(used(limiters, "saved")).isEqualTo(34);
        });
    }

    /** The method has returned by then, but the caller gets no result. */
    @Test
    void commitThatFailsIsAFailure() {
        runner.run(context -> {
            Calls calls = context.getBean(Calls.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            context.getBean(FailingTransactions.class).failure.set(new TransactionSystemException("commit"));
            assertThatThrownBy(() -> calls.saved("alice", 30)).isInstanceOf(TransactionSystemException.class);
            assertThat(used(limiters, "saved")).isEqualTo(4);
            assertThatThrownBy(() -> calls.estimated("alice", 30)).isInstanceOf(TransactionSystemException.class);
            assertThat(used(limiters, "estimated")).isEqualTo(10);
            assertThatThrownBy(() -> calls.refunded("alice", 30)).isInstanceOf(TransactionSystemException.class);
            assertThat(used(limiters, "refunded")).isZero();
        });
    }

    @Test
    void asyncMethodIsSettledWhenItsTaskIsOverByThePlanOfItsCall() {
        runner.run(context -> {
            Calls calls = context.getBean(Calls.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            CompletableFuture<Integer> work = new CompletableFuture<>();
            List<CompletableFuture<Integer>> results = Stream.generate(() -> calls.later("alice", "small", work))
                    .limit(6)
                    .toList();
            assertThat(used(limiters, "planned")).isEqualTo(50);
            assertThat(results.get(5))
                    .failsWithin(0, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .withCauseInstanceOf(RateLimitExceededException.class);
            assertThat(results.subList(0, 5)).noneMatch(CompletableFuture::isDone);
            work.complete(12);
            assertThat(results.subList(0, 5)).allMatch(result -> result.join() == 12);
            assertThat(used(limiters, "planned")).isEqualTo(5 * 12);
            work.obtrudeException(new IllegalStateException());
            assertThat(calls.later("alice", null, work)
                            .handle((cost, thrown) -> thrown)
                            .join())
                    .isInstanceOf(IllegalStateException.class);
            assertThat(used(limiters, "planned")).isEqualTo(5 * 12 + 10);
        });
    }

    /** They wait for the plan without a thread of the platform. */
    @Test
    @LongRunning
    @EnabledForJreRange(min = JRE.JAVA_21)
    void callsOnVirtualThreadsAreSettledEachForItself() {
        runner.run(context -> {
            Calls calls = context.getBean(Calls.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            CompletableFuture<RateLimitPlan> plan = context.getBean(Plans.class).plan;
            long costs = 0;
            ExecutorService threads = (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            try {
                List<Future<Integer>> all = new ArrayList<>();
                for (int i = 0; i < CALLS; i++) {
                    int cost = 10 + i % 40;
                    costs += cost;
                    all.add(threads.submit(() -> calls.resolved("alice", cost)));
                }
                plan.complete(RateLimitPlan.named("large"));
                for (Future<Integer> call : all) {
                    call.get();
                }
            } finally {
                threads.shutdown();
            }
            assertThat(used(limiters, "resolved")).isEqualTo(costs);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @EnableTransactionManagement
    static class Config {

        @Bean
        FailingTransactions transactions() {
            return new FailingTransactions();
        }

        @Bean
        Plans plans() {
            return new Plans();
        }
    }

    static class FailingTransactions extends CountingTransactions {

        private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

        @Override
        public void commit(TransactionStatus status) {
            if (failure.get() != null) {
                throw failure.get();
            }
        }
    }

    static class Plans implements RateLimitPlanResolver {

        private final CompletableFuture<RateLimitPlan> plan = new CompletableFuture<>();

        @Override
        public RateLimitPlan resolve(String limit, String key) {
            return plan.join();
        }
    }

    static class Calls {

        @Transactional
        @RateLimited(
                name = "saved",
                rate = "100000/d",
                keyExpression = "#user",
                permits = "10",
                permitsAfter = "#exception != null ? 4 : #result")
        public int saved(String user, int cost) {
            return checked(cost);
        }

        @Transactional
        @RateLimited(
                name = "estimated",
                rate = "100000/d",
                keyExpression = "#user",
                permits = "10",
                permitsAfter = "#result")
        public int estimated(String user, int cost) {
            return checked(cost);
        }

        @Transactional
        @RateLimited(
                name = "refunded",
                rate = "100000/d",
                keyExpression = "#user",
                permits = "10",
                permitsAfter = "#result",
                refundOn = RuntimeException.class)
        public int refunded(String user, int cost) {
            return checked(cost);
        }

        private static int checked(int cost) {
            if (cost < 0) {
                throw new IllegalArgumentException();
            }
            return cost;
        }

        @Async
        @RateLimited(
                name = "planned",
                rate = "100000/d",
                keyExpression = "#user",
                planExpression = "#plan",
                permits = "10",
                permitsAfter = "#result")
        public CompletableFuture<Integer> later(String user, String plan, CompletableFuture<Integer> cost) {
            return cost;
        }

        @RateLimited(
                name = "resolved",
                rate = "100000/d",
                keyExpression = "#user",
                planResolver = "plans",
                permits = "10",
                permitsAfter = "#cost")
        public int resolved(String user, int cost) {
            return cost;
        }
    }
}
