package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.FutureMethodTests.HeldWaiter;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Methods that return a publisher: every subscription is a call. */
class ReactiveMethodTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(1, 0, 0, 0, 1);

    private static final RateLimitDecision NO = RateLimitDecision.ofMicros(1, 0, 0, 1, 1);

    private static final RateLimitDecision LATER = RateLimitDecision.ofMicros(1, 0, 500_000, 0, 1);

    private final List<Throwable> dropped = new CopyOnWriteArrayList<>();

    private final StubStore answers = new StubStore();

    private final HeldStore store = new HeldStore(answers);

    private final Quotes target = new Quotes();

    private final ApplicationContextRunner inMemory = LimitedContexts.inMemory().withBean(Quotes.class, () -> target);

    private final ApplicationContextRunner held = inMemory.withBean(RateLimitStore.class, () -> store);

    @BeforeEach
    void recordDroppedErrors() {
        Hooks.onErrorDropped(dropped::add);
        answers.answer(YES);
    }

    @AfterEach
    void noErrorIsDropped() {
        Hooks.resetOnErrorDropped();
        assertThat(dropped).isEmpty();
    }

    @Test
    void nothingHappensUntilSubscribed() {
        inMemory.run(context -> {
            Mono<String> quote = context.getBean(Quotes.class).quote();
            assertThat(target.events).isEmpty();
            assertThat(context.getBean(RecordingListener.class).outcomes()).isEmpty();
            StepVerifier.create(quote).expectNext("quote 1").verifyComplete();
        });
    }

    @Test
    void everySubscriptionIsChargedAndRunsTheMethod() {
        inMemory.run(context -> {
            Mono<String> quote = context.getBean(Quotes.class).quote();
            StepVerifier.create(quote).expectNext("quote 1").verifyComplete();
            StepVerifier.create(quote).expectNext("quote 2").verifyComplete();
            StepVerifier.create(quote).verifyError(RateLimitExceededException.class);
        });
    }

    /** A publisher can be subscribed to long after the method was called, and again and again. */
    @Test
    void everySubscriptionIsChargedByTheLimitAsItIsThen() {
        inMemory.run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            Mono<String> quote = context.getBean(Quotes.class).quote();
            admin.override("quotes", RateLimitOverride.builder().capacity(1).build());
            StepVerifier.create(quote).expectNext("quote 1").verifyComplete();
            StepVerifier.create(quote).verifyError(RateLimitExceededException.class);
            admin.override("quotes", RateLimitOverride.builder().enabled(false).build());
            StepVerifier.create(quote).expectNext("quote 2").verifyComplete();
            Mono<String> unlimited = context.getBean(Quotes.class).quote();
            admin.override("quotes", RateLimitOverride.builder().capacity(1).build());
            StepVerifier.create(unlimited).verifyError(RateLimitExceededException.class);
        });
    }

    @Test
    void everySubscriptionRunsTheAdviceBehindTheLimit() {
        MethodInterceptor advice = invocation -> {
            target.events.add("advice");
            return invocation.proceed();
        };
        ProxyFactory factory = new ProxyFactory(target);
        factory.addAdvice(advice);
        LimitedContexts.inMemory()
                .withBean(Quotes.class, () -> (Quotes) factory.getProxy())
                .run(context -> {
                    Mono<String> quote = context.getBean(Quotes.class).quote();
                    quote.block();
                    quote.block();
                    assertThat(target.events).containsExactly("advice", "quote", "advice", "quote");
                });
    }

    @Test
    void repetitionIsChargedToo() {
        inMemory.run(context -> {
            StepVerifier.create(context.getBean(Quotes.class).quote().repeat())
                    .expectNext("quote 1", "quote 2")
                    .verifyError(RateLimitExceededException.class);
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactly("quotes ALLOWED", "quotes ALLOWED", "quotes REJECTED");
        });
    }

    @Test
    void retryIsChargedToo() {
        inMemory.run(context -> {
            target.quotes = () -> Flux.error(new IllegalStateException());
            StepVerifier.create(context.getBean(Quotes.class).stream().retry(5))
                    .expectNext("instead")
                    .verifyComplete();
            assertThat(target.events).containsExactly("stream", "stream");
        });
    }

    @Test
    void subscriberGetsAsMuchAsItAsksFor() {
        AtomicLong requested = new AtomicLong();
        inMemory.run(context -> {
            target.quotes = () -> Flux.range(1, 100).cast(Object.class).doOnRequest(requested::addAndGet);
            StepVerifier.create(context.getBean(Quotes.class).stream(), 0)
                    .thenRequest(2)
                    .expectNext(1, 2)
                    .then(() -> assertThat(requested).hasValue(2))
                    .thenRequest(1)
                    .expectNext(3)
                    .thenCancel()
                    .verify();
            assertThat(requested).hasValue(3);
        });
    }

    @Test
    void methodOfOneValueEndsByItself() {
        inMemory.run(context -> {
            target.one = Mono.just("one")
                    .doOnCancel(() -> target.events.add("cancelled"))
                    .doOnTerminate(() -> target.events.add("completed"));
            StepVerifier.create(context.getBean(Quotes.class).one())
                    .expectNext("one")
                    .verifyComplete();
            assertThat(target.events).containsExactly("completed");
        });
    }

    @Test
    void subscribersContextReachesTheMethod() {
        held.run(context -> {
            target.one = Mono.deferContextual(view -> Mono.just(view.get("user")));
            Mono<String> call = context.getBean(Quotes.class).one().contextWrite(view -> view.put("user", "alice"));
            StepVerifier.create(call)
                    .then(() -> store.answerOn("store"))
                    .expectNext("alice")
                    .verifyComplete();
        });
    }

    @Test
    void methodDoesNotRunOnTheStoresThread() {
        held.run(context -> {
            StepVerifier.create(context.getBean(Quotes.class).quote())
                    .then(() -> store.answerOn("store"))
                    .expectNext("quote 1")
                    .verifyComplete();
            assertThat(target.threads)
                    .singleElement()
                    .isNotInstanceOf(NonBlocking.class)
                    .satisfies(thread -> assertThat(thread.getName()).startsWith("ratelimit-"));
        });
    }

    @Test
    void methodThatAnEventLoopAsksForRunsWhereNobodyWaitsEither() {
        held.run(context -> {
            StepVerifier.create(Mono.defer(context.getBean(Quotes.class)::quote).subscribeOn(Schedulers.parallel()))
                    .then(() -> {
                        while (store.waiting() == 0) {
                            Thread.onSpinWait();
                        }
                        store.answerOn("store");
                    })
                    .expectNext("quote 1")
                    .verifyComplete();
            assertThat(target.threads).singleElement().isInstanceOf(NonBlocking.class);
        });
    }

    @Test
    void decisionThatIsThereAtOnceRunsTheMethodOnTheSubscribersThread() {
        inMemory.run(context -> {
            StepVerifier.create(context.getBean(Quotes.class).quote())
                    .expectNext("quote 1")
                    .verifyComplete();
            assertThat(target.threads).containsExactly(Thread.currentThread());
        });
    }

    static Stream<Throwable> whyNoThreadRunsTheMethod() {
        return Stream.of(
                new RejectedExecutionException("full"),
                new IllegalStateException("closed"),
                new OutOfMemoryError("unable to create native thread"),
                new NoClassDefFoundError("of a task decorator"));
    }

    @ParameterizedTest
    @MethodSource("whyNoThreadRunsTheMethod")
    void subscriberIsToldThatNoThreadRunsTheMethod(Throwable failure) {
        Executor refusing = task -> {
            throw ReactiveMethodTests.<RuntimeException>any(failure);
        };
        held.withBean("rateLimitExecutor", Executor.class, () -> refusing).run(context -> {
            CompletableFuture<String> call =
                    context.getBean(Quotes.class).quote().toFuture();
            store.answer();
            assertThat(call)
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .havingRootCause()
                    .isSameAs(failure);
            assertThat(target.events).isEmpty();
        });
    }

    /** It is a failure of the call, as any other. */
    @Test
    void callThatNoThreadRunsIsRefunded() {
        Executor refusing = task -> {
            throw new RejectedExecutionException("full");
        };
        held.withBean("rateLimitExecutor", Executor.class, () -> refusing)
                .withPropertyValues("ratelimit.limits.quotes.refund-on=" + RejectedExecutionException.class.getName())
                .run(context -> {
                    CompletableFuture<String> call =
                            context.getBean(Quotes.class).quote().toFuture();
                    store.answer();
                    assertThat(call).failsWithin(Duration.ofSeconds(60)).withThrowableOfType(ExecutionException.class);
                    store.answer();
                    assertThat(answers.refunded()).hasSize(1);
                });
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // Checked exceptions do not concern the JVM.
    private static <T extends Throwable> T any(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void rejectionComesLateToo() {
        answers.answer(NO);
        held.run(context -> StepVerifier.create(context.getBean(Quotes.class).quote())
                .then(() -> store.answerOn("store"))
                .verifyError(RateLimitExceededException.class));
    }

    @Test
    void rejectionWithinTheMethodIsNotItsOwn() {
        RateLimitExceededException inner = new RateLimitExceededException("inner", NO);
        inMemory.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            target.quotes = () -> Flux.error(inner);
            StepVerifier.create(quotes.stream()).verifyErrorMatches(failure -> failure == inner);
            target.quotes = () -> {
                throw inner;
            };
            StepVerifier.create(quotes.stream()).verifyErrorMatches(failure -> failure == inner);
            StepVerifier.create(quotes.stream()).expectNext("instead").verifyComplete();
        });
    }

    @Test
    void cancelledBeforeTheDecisionTheMethodDoesNotRun() {
        held.run(context -> {
            Disposable call = context.getBean(Quotes.class).quote().subscribe();
            call.dispose();
            store.answer();
            assertThat(target.events).isEmpty();
        });
    }

    @Test
    void rejectionThatNobodyWaitsForIsNotReported() {
        answers.answer(NO);
        held.run(context -> {
            Disposable call = context.getBean(Quotes.class).quote().subscribe();
            call.dispose();
            store.answer();
            assertThat(target.events).isEmpty();
        });
    }

    @Test
    void cancelledWhileItWaitsItWaitsNoLonger() {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        answers.answer(LATER);
        held.withBean(Waiter.class, () -> new HeldWaiter(wait)).run(context -> {
            Disposable call = context.getBean(Quotes.class).quote().subscribe();
            store.answer();
            assertThat(wait).isNotDone();
            call.dispose();
            assertThat(wait).isCancelled();
            assertThat(target.events).isEmpty();
        });
    }

    @Test
    void waitsWithoutAThreadAndThenRuns() {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        answers.answer(LATER);
        held.withBean(Waiter.class, () -> new HeldWaiter(wait))
                .run(context -> StepVerifier.create(
                                context.getBean(Quotes.class).quote())
                        .then(store::answer)
                        .then(() -> assertThat(target.events).isEmpty())
                        .then(() -> wait.complete(null))
                        .expectNext("quote 1")
                        .verifyComplete());
    }

    @Test
    void cancelledAfterwardsItCancelsTheMethod() {
        inMemory.run(context -> {
            target.one = Mono.<String>never().doOnCancel(() -> target.events.add("cancelled"));
            context.getBean(Quotes.class).one().subscribe().dispose();
            assertThat(target.events).containsExactly("cancelled");
        });
    }

    @Test
    void twoSubscribersAtOnceEachHaveACallOfTheirOwn() {
        held.run(context -> {
            Mono<String> quote = context.getBean(Quotes.class).quote();
            StepVerifier.create(Flux.merge(quote, quote))
                    .then(() -> assertThat(store.waiting()).isEqualTo(2))
                    .then(() -> store.answerOn("store"))
                    .expectNextCount(2)
                    .verifyComplete();
            assertThat(target.events).hasSize(2);
        });
    }

    static class Quotes {

        private final List<String> events = new CopyOnWriteArrayList<>();

        private final List<Thread> threads = new CopyOnWriteArrayList<>();

        private Supplier<Flux<Object>> quotes = Flux::empty;

        private Mono<String> one = Mono.empty();

        @RateLimited(name = "quotes", capacity = 2, rate = "1/s")
        public Mono<String> quote() {
            threads.add(Thread.currentThread());
            events.add("quote");
            return Mono.just("quote " + events.size());
        }

        @RateLimited(name = "streams", capacity = 2, rate = "1/s", fallbackMethod = "instead")
        public Flux<Object> stream() {
            events.add("stream");
            return quotes.get();
        }

        Flux<Object> instead() {
            return Flux.just("instead");
        }

        @RateLimited(name = "ones", rate = "1/s")
        public Mono<String> one() {
            return one;
        }
    }
}
