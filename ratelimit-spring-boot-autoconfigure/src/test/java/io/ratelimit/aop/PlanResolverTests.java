package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitPlanResolver;
import io.ratelimit.testing.BlockingCalls;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** The plan of a caller, which a bean finds for its key. */
@Timeout(180)
class PlanResolverTests {

    private final Database database = new Database();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(Quotes.class, Quotes::new)
            .withBean("plans", RateLimitPlanResolver.class, () -> database)
            .withPropertyValues("ratelimit.plans.timeout=20s", "ratelimit.limits.quotes.plans.pro.capacity=3");

    @BeforeAll
    static void installBlockHound() {
        BlockingCalls.install();
    }

    @Test
    void firstCallWaitsForThePlanAndTheBeanIsAskedOnceOnAThreadOfTheStarter() {
        database.plans.put("alice", RateLimitPlan.named("pro"));
        database.plans.put("carol", RateLimitPlan.named("contract").capacity(2));
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 3; call++) {
                quotes.quote("alice");
            }
            assertRejected("quotes", () -> quotes.quote("alice"));
            quotes.quote("bob");
            assertRejected("quotes", () -> quotes.quote("bob"));
            quotes.quote("carol");
            quotes.quote("carol");
            assertRejected("quotes", () -> quotes.quote("carol"));
            assertThat(database.asked).containsExactly("quotes alice", "quotes bob", "quotes carol");
            assertThat(database.threads).containsOnly("ratelimit-plans");
        });
    }

    /** Reactor throws it, and the executor that continues the call would swallow it. */
    @Test
    void linkageErrorOfACallThatItsPlanDoesNotLimitIsSignalled() {
        database.plans.put("alice", RateLimitPlan.named("staff").enabled(false));
        database.held = new CompletableFuture<>();
        runner.run(context -> {
            CompletableFuture<String> call =
                    context.getBean(Quotes.class).unlinked("alice").toFuture();
            database.held.complete(null);
            assertThat(call)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withCauseInstanceOf(LinkageError.class);
        });
    }

    @Test
    void futuresAndPublishersWaitWithoutAThread() {
        database.plans.put("alice", RateLimitPlan.named("staff").enabled(false));
        database.held = new CompletableFuture<>();
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            CompletableFuture<String> future = quotes.later("alice");
            CompletableFuture<String> publisher =
                    quotes.reactive("alice").subscribeOn(Schedulers.parallel()).toFuture();
            assertThat(future).isNotDone();
            assertThat(publisher).isNotDone();
            database.held.complete(null);
            assertThat(future.get(60, TimeUnit.SECONDS)).doesNotContain("ratelimit-plans");
            assertThat(publisher.get(60, TimeUnit.SECONDS)).startsWith("parallel");
            for (int call = 0; call < 5; call++) {
                assertThat(quotes.later("alice")).isCompleted();
                StepVerifier.create(quotes.reactive("alice")).expectNextCount(1).verifyComplete();
            }
            assertThat(quotes.later("bob").get(60, TimeUnit.SECONDS)).isNotNull();
            StepVerifier.create(quotes.reactive("bob")).verifyError(RateLimitExceededException.class);
            assertRejected("later", quotes.later("bob"));
        });
    }

    @Test
    void futureThatIsCancelledWhileItWaitsDoesNotCallTheMethod() {
        database.held = new CompletableFuture<>();
        runner.run(context -> {
            CompletableFuture<String> future = context.getBean(Quotes.class).later("alice");
            assertThat(future.cancel(true)).isTrue();
            database.held.complete(null);
            assertThat(context.getBean(Quotes.class).later("bob").get(60, TimeUnit.SECONDS))
                    .isNotNull();
            assertThat(context.getBean(Quotes.class).calls()).containsExactly("bob");
        });
    }

    /** The plan is known, and the call waits for a thread. */
    @Test
    void futureThatIsCancelledBeforeItHasAThreadDoesNotCallTheMethod() throws Exception {
        database.held = new CompletableFuture<>();
        BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        runner.withBean("rateLimitExecutor", Executor.class, () -> tasks::add).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            CompletableFuture<String> future = quotes.later("alice");
            database.held.complete(null);
            Runnable task = tasks.poll(60, TimeUnit.SECONDS);
            assertThat(future.cancel(true)).isTrue();
            task.run();
            assertThat(quotes.calls()).isEmpty();
            assertThat(context.getBean(RateLimiterRegistry.class)
                            .get("later")
                            .peek("alice")
                            .remaining())
                    .isEqualTo(1);
        });
    }

    @Test
    void callOnAnEventLoopDoesNotWait() {
        database.held = new CompletableFuture<>();
        database.plans.put("alice", RateLimitPlan.named("pro"));
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Mono.fromRunnable(() -> quotes.quote("alice"))
                    .subscribeOn(Schedulers.parallel())
                    .block();
            database.held.complete(null);
        });
    }

    @Test
    void refundReturnsPermitsOfThePlan() {
        database.plans.put("alice", RateLimitPlan.named("pro"));
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 10; call++) {
                try {
                    quotes.refunded("alice");
                } catch (IOException ex) {
                    // Expected.
                }
            }
            assertThat(quotes.calls()).hasSize(10);
        });
    }

    @Test
    void whileTheBeanFailsTheLimitHasItsOwnNumbers() {
        database.failing = true;
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            assertRejected("quotes", () -> quotes.quote("alice"));
        });
    }

    /** A limit that has plans in the configuration, and does not say which bean finds them. */
    @Test
    void onlyResolverAppliesByItselfToALimitWithPlansAndAKey() {
        database.plans.put("alice", RateLimitPlan.named("pro"));
        runner.withPropertyValues("ratelimit.limits.plain.plans.pro.capacity=3").run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 3; call++) {
                quotes.plain("alice");
            }
            assertRejected("plain", () -> quotes.plain("alice"));
            quotes.plain("bob");
            assertRejected("plain", () -> quotes.plain("bob"));
            assertThat(database.asked).containsExactly("plain alice", "plain bob");
        });
        database.asked.clear();
        runner.run(context -> context.getBean(Quotes.class).plain("alice"));
        runner.withPropertyValues(
                        "ratelimit.limits.plain.plans.pro.capacity=3", "ratelimit.limits.plain.plan-expression=none")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.plain("alice");
                    assertRejected("plain", () -> quotes.plain("alice"));
                });
        assertThat(database.asked).isEmpty();
    }

    @Test
    void oneOfSeveralResolversIsNotChosen() {
        runner.withBean("others", RateLimitPlanResolver.class, () -> (limit, key) -> null)
                .withPropertyValues("ratelimit.limits.plain.plans.pro.capacity=3")
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("ratelimit.limits.plain.plans must not be set without a plan-expression or a"
                                    + " plan-resolver");
                    assertThat(analysis(context).getAction())
                            .contains(
                                    "The only RateLimitPlanResolver bean applies by itself, if the limit has a key.",
                                    "set plan-expression: none.");
                });
    }

    /** What a database may hold. */
    @Test
    void answersThatCannotApplyAreTheConfiguredNumbersAndFailNoCall() {
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        List<RateLimitPlan> garbage = List.of(
                RateLimitPlan.named("pro").capacity(-1),
                RateLimitPlan.named("pro").capacity(Long.MIN_VALUE),
                RateLimitPlan.named("pro").capacity(Long.MAX_VALUE),
                RateLimitPlan.named("pro").rate(""),
                RateLimitPlan.named("pro").rate("-5/s"),
                RateLimitPlan.named("pro").rate("99999999999999999999/s"),
                RateLimitPlan.named("pro").rate("5/day"),
                RateLimitPlan.named("pro").rate(Long.MAX_VALUE, endless),
                RateLimitPlan.named("pro").maxWait(endless),
                RateLimitPlan.named("pro").maxWait(Duration.ofSeconds(-1)),
                RateLimitPlan.named("pro").blockFor(endless),
                RateLimitPlan.named("pro").blockFor(Duration.ZERO, Duration.ZERO));
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int i = 0; i < garbage.size(); i++) {
                String user = "user" + i;
                database.plans.put(user, garbage.get(i));
                for (int call = 0; call < 3; call++) {
                    quotes.quote(user);
                }
                assertRejected("quotes", () -> quotes.quote(user));
            }
            for (String name : List.of("", " ", "\0\r\n", "p ".repeat(1_000_000), "käse")) {
                String user = "named " + name.hashCode();
                database.plans.put(user, RateLimitPlan.named(name).capacity(2));
                quotes.quote(user);
                assertRejected("quotes", () -> quotes.quote(user));
            }
        });
    }

    @Test
    void errorsOfTheBeanLeaveTheLimitItsOwnNumbers() {
        for (Error error :
                List.of(new StackOverflowError(), new OutOfMemoryError("test"), new NoClassDefFoundError())) {
            database.error = error;
            runner.run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                quotes.quote("alice");
                assertRejected("quotes", () -> quotes.quote("alice"));
                StepVerifier.create(quotes.reactive("alice")).expectNextCount(1).verifyComplete();
                database.error = null;
                database.plans.put("carol", RateLimitPlan.named("pro"));
                quotes.quote("carol");
                quotes.quote("carol");
            });
        }
    }

    /** The answer comes when the calls wait already. */
    @Test
    void slowBeanBlocksNeitherReactorsThreadsNorTheSubscribers() {
        database.held = new CompletableFuture<>();
        database.plans.put("alice", RateLimitPlan.named("staff").enabled(false));
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.later("bob").cancel(true);
            assertThat(BlockingCalls.during(() -> {
                        List<CompletableFuture<String>> calls = IntStream.range(0, 20)
                                .mapToObj(call -> Mono.defer(() -> quotes.reactive("alice"))
                                        .subscribeOn(Schedulers.parallel())
                                        .toFuture())
                                .toList();
                        assertThat(calls).noneMatch(CompletableFuture::isDone);
                        database.held.complete(null);
                        // Not by orTimeout: the thread that completes a call would contend for the lock of its timer.
                        calls.forEach(call -> assertThat(call)
                                .succeedsWithin(Duration.ofSeconds(60))
                                .asString()
                                .startsWith("parallel"));
                    }))
                    .isEmpty();
        });
    }

    @Test
    void limitWithoutAKeyCannotHaveAResolver() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=all-callers")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("planResolver must not be set for a limit without a key (was \"plans\")."));
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.plan-resolver=plans", "ratelimit.limits.quotes.plan-expression='pro'")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes.plan-resolver must not be set beside plan-expression"));
        runner.withPropertyValues("ratelimit.plans.cache=0s")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.plans.cache must be positive (was 0s)."));
    }

    private static final class Database implements RateLimitPlanResolver {

        private final Map<String, RateLimitPlan> plans = new ConcurrentHashMap<>();

        private final List<String> asked = new CopyOnWriteArrayList<>();

        private final List<String> threads = new CopyOnWriteArrayList<>();

        private CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

        private boolean failing;

        private Error error;

        @Override
        public RateLimitPlan resolve(String limit, String key) {
            asked.add(limit + " " + key);
            threads.add(Thread.currentThread().getName());
            held.orTimeout(60, TimeUnit.SECONDS).join();
            if (error != null) {
                throw error;
            }
            if (failing) {
                throw new IllegalStateException("no database");
            }
            return plans.get(key);
        }
    }

    static class Quotes {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        public List<String> calls() {
            return calls;
        }

        @RateLimited(name = "quotes", rate = "1/h", keyExpression = "#user", planResolver = "plans")
        public void quote(String user) {
            calls.add(user);
        }

        @RateLimited(name = "plain", rate = "1/h", keyExpression = "#user")
        public void plain(String user) {
            calls.add(user);
        }

        @RateLimited(name = "later", rate = "1/h", keyExpression = "#user", planResolver = "plans")
        public CompletableFuture<String> later(String user) {
            calls.add(user);
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @RateLimited(name = "later", rate = "1/h", keyExpression = "#user", planResolver = "plans")
        public Mono<String> unlinked(String user) {
            return Mono.fromSupplier(() -> {
                throw new NoClassDefFoundError("com/acme/Missing");
            });
        }

        @RateLimited(name = "later", rate = "1/h", keyExpression = "#user", planResolver = "plans")
        public Mono<String> reactive(String user) {
            return Mono.fromSupplier(() -> Thread.currentThread().getName());
        }

        @RateLimited(
                name = "refunded",
                rate = "1/h",
                keyExpression = "#user",
                planResolver = "plans",
                refundOn = IOException.class)
        public void refunded(String user) throws IOException {
            calls.add(user);
            throw new IOException("refund");
        }
    }
}
