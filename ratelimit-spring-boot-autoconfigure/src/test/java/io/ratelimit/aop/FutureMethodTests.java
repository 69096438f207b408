package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.context.ContextRegistry;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.context.i18n.TimeZoneAwareLocaleContext;
import org.springframework.core.task.TaskDecorator;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

/** Methods that return a future, where the store takes its time. */
class FutureMethodTests {

    private static final RateLimitDecision NO = RateLimitDecision.ofMicros(1, 0, 0, 1, 1);

    private final StubStore answers = new StubStore();

    private final HeldStore store = new HeldStore(answers);

    private final Exports target = new Exports();

    private final ApplicationContextRunner inMemory = LimitedContexts.inMemory().withBean(Exports.class, () -> target);

    private final ApplicationContextRunner runner = inMemory.withBean(RateLimitStore.class, () -> store);

    FutureMethodTests() {
        answers.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 1));
    }

    @Test
    void callerDoesNotWaitForTheDecision() {
        runner.run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> call = exports.export();
            assertThat(call).isNotDone();
            assertThat(exports.ran()).isEmpty();
            store.answer();
            assertThat(call.join()).isEqualTo("export");
        });
    }

    @Test
    void decisionThatIsThereAtOnceRunsTheMethodOnTheCallingThread() {
        inMemory.run(context -> {
            Exports exports = context.getBean(Exports.class);
            exports.export().join();
            assertThat(exports.ran()).containsExactly(Thread.currentThread());
        });
    }

    @Test
    void methodRunsOnTheApplicationsExecutorAndNotOnTheStoresThread() {
        runner.withBean("rateLimitExecutor", Executor.class, () -> FutureMethodTests::onApplicationThread)
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    CompletableFuture<String> call = exports.export();
                    store.answerOn("store");
                    call.join();
                    assertThat(exports.ran()).extracting(Thread::getName).containsExactly("application");
                });
    }

    @Test
    void withoutOneTheMethodRunsOnAThreadOfOurs() {
        runner.run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> call = exports.export();
            store.answerOn("store");
            call.join();
            assertThat(exports.ran())
                    .singleElement()
                    .satisfies(thread -> assertThat(thread.getName()).startsWith("ratelimit-"));
        });
    }

    @Test
    void methodsThatWaitForOtherLimitedFuturesLeaveThreadsForThese() {
        runner.run(context -> {
            Exports exports = context.getBean(Exports.class);
            target.asks = () -> exports.export().join();
            List<CompletableFuture<String>> calls =
                    IntStream.range(0, 64).mapToObj(i -> exports.asking()).toList();
            // One answers all, as a driver's thread does.
            CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> {
                while (!calls.stream().allMatch(CompletableFuture::isDone)
                        && !Thread.currentThread().isInterrupted()) {
                    store.answer();
                    Thread.onSpinWait();
                }
            });
            assertThat(answered).succeedsWithin(Duration.ofMinutes(1));
            assertThat(calls).allSatisfy(call -> assertThat(call.join()).isEqualTo("export"));
        });
    }

    @Test
    void contextClassLoaderGoesAlong() {
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        ClassLoader applications = new ClassLoader(own) {};
        runner.run(context -> {
            AtomicReference<ClassLoader> seen = new AtomicReference<>();
            target.asks = () -> {
                seen.set(Thread.currentThread().getContextClassLoader());
                return "";
            };
            Thread.currentThread().setContextClassLoader(applications);
            CompletableFuture<String> call;
            try {
                call = context.getBean(Exports.class).asking();
            } finally {
                Thread.currentThread().setContextClassLoader(own);
            }
            store.answerOn("store");
            call.join();
            assertThat(seen).hasValue(applications);
        });
    }

    /** A pooled thread keeps what it inherits, and then runs the calls of others. */
    @Test
    void threadForTheMethodInheritsNoThreadLocals() {
        ThreadLocal<String> user = new InheritableThreadLocal<>();
        runner.run(context -> {
            target.asks = () -> user.get() + "";
            CompletableFuture<String> call = context.getBean(Exports.class).asking();
            user.set("alice");
            store.answer();
            user.remove();
            assertThat(call.join()).isEqualTo("null");
        });
    }

    /** Of a request, it cannot be found out after the end of that. */
    @Test
    void localeAndTimeZoneGoAlongAsTheyWere() {
        AtomicReference<Locale> locale = new AtomicReference<>(Locale.FRENCH);
        TimeZoneAwareLocaleContext lazy = new TimeZoneAwareLocaleContext() {

            @Override
            public Locale getLocale() {
                return locale.get();
            }

            @Override
            public TimeZone getTimeZone() {
                return TimeZone.getTimeZone("Asia/Tokyo");
            }
        };
        runner.run(context -> {
            target.asks = () -> LocaleContextHolder.getLocale() + " "
                    + LocaleContextHolder.getTimeZone().getID();
            LocaleContextHolder.setLocaleContext(lazy);
            CompletableFuture<String> call = context.getBean(Exports.class).asking();
            LocaleContextHolder.resetLocaleContext();
            locale.set(null);
            store.answerOn("store");
            assertThat(call.join()).isEqualTo("fr Asia/Tokyo");
        });
    }

    @Test
    void methodSeesWhatTheApplicationsDecoratorsBringAlong() {
        ThreadLocal<String> user = new ThreadLocal<>();
        TaskDecorator decorator = task -> {
            String current = user.get();
            return () -> {
                user.set(current);
                task.run();
            };
        };
        runner.withBean(TaskDecorator.class, () -> decorator).run(context -> {
            Exports exports = context.getBean(Exports.class);
            target.asks = user::get;
            user.set("alice");
            CompletableFuture<String> call = exports.asking();
            user.set("bob");
            store.answerOn("store");
            assertThat(call.join()).isEqualTo("alice");
        });
    }

    @Test
    void withoutADecoratorMicrometersAccountOfTheThreadComesAlong() {
        ThreadLocal<String> user = new ThreadLocal<>();
        ContextRegistry.getInstance().registerThreadLocalAccessor("user", user);
        try {
            runner.run(context -> {
                target.asks = user::get;
                user.set("alice");
                CompletableFuture<String> call = context.getBean(Exports.class).asking();
                user.set("bob");
                store.answerOn("store");
                assertThat(call.join()).isEqualTo("alice");
            });
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("user");
        }
    }

    /** With decorators, Micrometer carries nothing. */
    @Test
    void securityContextGoesAlongWithoutContextPropagation() {
        runner.withBean(TaskDecorator.class, () -> task -> task).run(context -> {
            target.asks =
                    () -> SecurityContextHolder.getContext().getAuthentication().getName();
            SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("alice", null));
            CompletableFuture<String> call = context.getBean(Exports.class).asking();
            SecurityContextHolder.clearContext();
            store.answerOn("store");
            assertThat(call.join()).isEqualTo("alice");
        });
    }

    @Test
    void decoratorThatFailsFailsTheFuture() {
        TaskDecorator decorator = task -> {
            throw new IllegalStateException("no context");
        };
        runner.withBean(TaskDecorator.class, () -> decorator).run(context -> {
            CompletableFuture<String> call = context.getBean(Exports.class).export();
            store.answer();
            assertThat(call).isCompletedExceptionally();
            assertThat(call.handle((value, failure) -> failure.getMessage()).join())
                    .isEqualTo("no context");
        });
    }

    @Test
    void executorThatRefusesFailsTheFuture() {
        Executor refusing = task -> {
            throw new RejectedExecutionException("full");
        };
        runner.withBean("rateLimitExecutor", Executor.class, () -> refusing).run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> call = exports.export();
            store.answer();
            assertThat(call.handle((value, failure) -> failure).join()).isInstanceOf(RejectedExecutionException.class);
            assertThat(exports.ran()).isEmpty();
        });
    }

    /** It is a failure of the call, as any other. */
    @Test
    void executorThatRefusesHasTheCallRefunded() {
        Executor refusing = task -> {
            throw new RejectedExecutionException("full");
        };
        runner.withBean("rateLimitExecutor", Executor.class, () -> refusing)
                .withPropertyValues("ratelimit.limits.exports.refund-on=" + RejectedExecutionException.class.getName())
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    CompletableFuture<String> call = exports.export();
                    store.answer();
                    assertThat(call).isCompletedExceptionally();
                    store.answer();
                    assertThat(answers.refunded()).hasSize(1);
                });
    }

    @Test
    void rejectionComesLateToo() {
        runner.run(context -> {
            CompletableFuture<String> call = context.getBean(Exports.class).export();
            answers.answer(NO);
            store.answer();
            assertRejected("exports", call);
        });
    }

    @Test
    void rejectionOfACallWithinTheMethodIsNotItsOwn() {
        RateLimitExceededException inner = new RateLimitExceededException("inner", NO);
        inMemory.run(context -> {
            Exports exports = context.getBean(Exports.class);
            target.result = CompletableFuture.failedStage(inner);
            assertRejected("inner", exports.heldOr().toCompletableFuture());
            target.asks = () -> {
                throw inner;
            };
            assertRejected("inner", exports.asking());
        });
    }

    @Test
    void cancelledBeforeTheDecisionTheMethodDoesNotRun() {
        runner.withBean("rateLimitExecutor", Executor.class, () -> Runnable::run)
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    CompletableFuture<String> call = exports.export();
                    assertThat(call.cancel(true)).isTrue();
                    store.answer();
                    assertThat(exports.ran()).isEmpty();
                });
    }

    @Test
    void cancelledBeforeAThreadIsFreeTheMethodDoesNotRun() {
        List<Runnable> queue = new CopyOnWriteArrayList<>();
        runner.withBean("rateLimitExecutor", Executor.class, () -> queue::add).run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> call = exports.export();
            store.answer();
            assertThat(queue).hasSize(1);
            call.cancel(true);
            queue.get(0).run();
            assertThat(exports.ran()).isEmpty();
        });
    }

    @Test
    void cancelledWhileItWaitsItWaitsNoLonger() {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        answers.answer(RateLimitDecision.ofMicros(1, 0, 500_000, 0, 1));
        runner.withBean(Waiter.class, () -> new HeldWaiter(wait))
                .withBean("rateLimitExecutor", Executor.class, () -> Runnable::run)
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    CompletableFuture<String> call = exports.export();
                    store.answer();
                    assertThat(wait).isNotDone();
                    call.cancel(true);
                    assertThat(wait).isCancelled();
                    assertThat(exports.ran()).isEmpty();
                });
    }

    @Test
    void waitsWithoutAThreadAndThenRuns() {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        answers.answer(RateLimitDecision.ofMicros(1, 0, 500_000, 0, 1));
        runner.withBean(Waiter.class, () -> new HeldWaiter(wait)).run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> call = exports.export();
            store.answer();
            assertThat(exports.ran()).isEmpty();
            wait.complete(null);
            assertThat(call.join()).isEqualTo("export");
        });
    }

    @Test
    void cancelledAfterwardsItCancelsTheMethodsFuture() {
        inMemory.run(context -> {
            Exports exports = context.getBean(Exports.class);
            CompletableFuture<String> own = new CompletableFuture<>();
            target.result = own;
            CompletionStage<String> call = exports.held();
            call.toCompletableFuture().cancel(true);
            assertThat(own).isCancelled();
        });
    }

    @Test
    void stageThatCannotBeCancelledIsLeftAlone() {
        inMemory.run(context -> {
            Exports exports = context.getBean(Exports.class);
            target.result = new CompletableFuture<String>().minimalCompletionStage();
            CompletableFuture<String> call = exports.held().toCompletableFuture();
            assertThat(call.cancel(true)).isTrue();
        });
    }

    @Test
    void failureOfTheMethodIsTheFuturesOwn() {
        inMemory.run(context -> {
            Exports exports = context.getBean(Exports.class);
            IllegalStateException failure = new IllegalStateException();
            target.result = CompletableFuture.failedStage(new CompletionException(failure));
            assertThat(exports.held()
                            .handle((value, thrown) -> thrown)
                            .toCompletableFuture()
                            .join())
                    .isSameAs(failure);
        });
    }

    private static void onApplicationThread(Runnable task) {
        new Thread(task, "application").start();
    }

    record HeldWaiter(CompletableFuture<Void> over) implements Waiter {

        @Override
        public void await(Duration delay) {
            throw new AssertionError("A thread waits");
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            return over;
        }
    }

    static class Exports {

        private final List<Thread> ran = new CopyOnWriteArrayList<>();

        private CompletionStage<String> result;

        private Supplier<String> asks;

        List<Thread> ran() {
            return ran;
        }

        @RateLimited(name = "exports", rate = "1/s")
        public CompletableFuture<String> export() {
            ran.add(Thread.currentThread());
            return CompletableFuture.completedFuture("export");
        }

        @RateLimited(name = "asking", rate = "1/s", fallbackMethod = "instead")
        public CompletableFuture<String> asking() {
            return CompletableFuture.completedFuture(asks.get());
        }

        @RateLimited(name = "held", rate = "1/s")
        public CompletionStage<String> held() {
            return result;
        }

        @RateLimited(name = "held-or", rate = "1/s", fallbackMethod = "instead")
        public CompletionStage<String> heldOr() {
            return result;
        }

        CompletableFuture<String> instead() {
            return CompletableFuture.completedFuture("instead");
        }
    }
}
