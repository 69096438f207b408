package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.springframework.web.reactive.function.BodyInserters.fromServerSentEvents;

import io.ratelimit.Algorithm;
import io.ratelimit.AllCallers;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.testing.LogRecorder;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.reactive.ReactiveFlowKt;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.CoroutinesUtils;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Calls hold the permits of a concurrency limit until they end, whatever they return. */
class ConcurrencyTests {

    private static final String LIMIT = "exports";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Exports.class);

    private void run(Checks checks) {
        runner.run(context -> checks.check(
                context.getBean(Exports.class),
                context.getBean(RateLimiterRegistry.class).get(LIMIT).allCallers()));
    }

    @FunctionalInterface
    private interface Checks {

        void check(Exports exports, AllCallers limiter) throws Exception;
    }

    private static void assertHeld(AllCallers limiter, boolean held) {
        assertThat(limiter.peek().allowed()).isEqualTo(!held);
    }

    @Test
    void valueIsHeldUntilTheMethodReturns() {
        run((exports, limiter) -> {
            assertThat(exports.value(() -> {
                        assertHeld(limiter, true);
                        assertRejected(LIMIT, () -> exports.value(() -> "second"));
                        return "first";
                    }))
                    .isEqualTo("first");
            assertThat(exports.value(() -> "second")).isEqualTo("second");
        });
    }

    /** The declared type does not tell, so the start-up does not stop. */
    @Test
    void valueWhoseWorkGoesOnIsLoggedOnce() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            for (Object value : List.of(
                    new SseEmitter(),
                    new CompletableFuture<>(),
                    Flux.never(),
                    Stream.of("row"),
                    ResponseEntity.ok(Flux.never()),
                    ServerResponse.ok().body(Flux.never(), String.class).block(),
                    ServerResponse.ok().body(fromServerSentEvents(Flux.never())).block(),
                    (StreamingResponseBody) output -> {})) {
                log.forget();
                run((exports, limiter) -> {
                    assertThat(exports.anything(() -> "done")).isEqualTo("done");
                    assertThat(exports.anything(() -> ResponseEntity.ok("done")))
                            .isNotNull();
                    assertThat(exports.anything(
                                    () -> ServerResponse.ok().bodyValue("done").block()))
                            .isNotNull();
                    CompletableFuture<String> done = CompletableFuture.completedFuture("done");
                    assertThat(exports.anything(() -> done)).isNotNull();
                    assertThat(log.text()).doesNotContain("WARNING");
                    assertThat(exports.anything(() -> value)).isSameAs(value);
                    exports.anything(() -> value);
                    assertThat(log.lines().stream().filter(line -> line.contains("whose work goes on")))
                            .singleElement()
                            .asString()
                            .contains("Exports.anything", value.getClass().getName());
                });
            }
        }
    }

    @Test
    void futureOfAnythingIsLoggedIfItsWorkGoesOn() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            run((exports, limiter) -> {
                exports.anythingLater(() -> Flux.never()).join();
                exports.anythingReactive(() -> Flux.never()).block();
            });
            assertThat(log.lines().stream().filter(line -> line.contains("whose work goes on")))
                    .hasSize(2);
        }
    }

    @Test
    void failureReleases() {
        run((exports, limiter) -> {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> exports.value(() -> {
                        throw new IllegalArgumentException();
                    }));
            assertHeld(limiter, false);
        });
    }

    @Test
    void futureIsHeldUntilItCompletes() {
        run((exports, limiter) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = exports.future(work);
            assertHeld(limiter, true);
            assertRejected(LIMIT, exports.future(work));
            // The next call is made by a continuation of the first.
            CompletableFuture<String> next =
                    result.thenCompose(value -> exports.future(CompletableFuture.completedFuture(value + "er")));
            work.complete("earli");
            assertThat(next.join()).isEqualTo("earlier");
            assertHeld(limiter, false);
        });
    }

    @Test
    void failedAndCancelledFuturesRelease() {
        run((exports, limiter) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            var unused = exports.future(work);
            work.completeExceptionally(new IOException());
            assertHeld(limiter, false);
            CompletableFuture<String> result = exports.future(new CompletableFuture<>());
            assertHeld(limiter, true);
            result.cancel(true);
            assertHeld(limiter, false);
        });
    }

    @Test
    void monoIsHeldFromTheSubscriptionToItsValue() {
        run((exports, limiter) -> {
            Sinks.One<String> sink = Sinks.one();
            Mono<String> call = exports.mono(sink.asMono());
            assertHeld(limiter, false);
            List<String> values = new ArrayList<>();
            // Called again by a continuation, and by a repetition.
            call.flatMap(value -> exports.mono(Mono.just(value + " again")))
                    .repeat(2)
                    .subscribe(values::add);
            assertHeld(limiter, true);
            sink.tryEmitValue("once");
            assertThat(values).containsExactly("once again", "once again", "once again");
            assertHeld(limiter, false);
        });
    }

    @Test
    void emptyFailedAndCancelledPublishersRelease() {
        run((exports, limiter) -> {
            assertThat(exports.mono(Mono.empty()).block()).isNull();
            assertHeld(limiter, false);
            assertThat(exports.mono(Mono.error(new IOException()))
                            .onErrorReturn("failed")
                            .block())
                    .isEqualTo("failed");
            assertHeld(limiter, false);
            exports.mono(Mono.never()).subscribe().dispose();
            assertHeld(limiter, false);
            exports.flux(Flux.never()).subscribe().dispose();
            assertHeld(limiter, false);
        });
    }

    @Test
    void fluxIsHeldUntilItTerminates() {
        run((exports, limiter) -> {
            Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();
            List<String> values = new ArrayList<>();
            exports.flux(sink.asFlux()).subscribe(values::add);
            sink.tryEmitNext("one");
            assertHeld(limiter, true);
            assertThat(exports.flux(Flux.just("two"))
                            .onErrorResume(RateLimitExceededException.class, ex -> Flux.just("rejected"))
                            .blockLast())
                    .isEqualTo("rejected");
            sink.tryEmitComplete();
            assertThat(values).containsExactly("one");
            assertHeld(limiter, false);
        });
    }

    @Test
    void asynchronousMethodIsHeldUntilItsFutureCompletes() {
        CompletableFuture<String> work = new CompletableFuture<>();
        runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withUserConfiguration(AsyncConfig.class)
                .withBean(AsyncExports.class, () -> new AsyncExports(work))
                .run(context -> {
                    CompletableFuture<String> call =
                            context.getBean(AsyncExports.class).export();
                    AllCallers limiter = context.getBean(RateLimiterRegistry.class)
                            .get("async-exports")
                            .allCallers();
                    assertHeld(limiter, true);
                    work.complete("done");
                    assertThat(call.join()).isEqualTo("done");
                    assertHeld(limiter, false);
                });
    }

    @Test
    void fallbackOfARejectedCallHoldsNothing() {
        run((exports, limiter) -> {
            exports.value(() -> exports.withFallback(() -> "not called"));
            assertHeld(limiter, false);
        });
    }

    /** Such as by its own timeout. Its place in the queue would hold up the calls behind it. */
    @Test
    void futureThatIsCompletedWhileItWaitsLeavesItsPlaceToOthers() {
        runner.withPropertyValues("ratelimit.limits.exports.capacity=2", "ratelimit.limits.exports.max-wait=1h")
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    RateLimiter.Entry first = context.getBean(RateLimiterRegistry.class)
                            .get(LIMIT)
                            .allCallers()
                            .enter();
                    CompletableFuture<String> abandoned = exports.large(new CompletableFuture<>());
                    CompletableFuture<String> next = exports.future(CompletableFuture.completedFuture("done"));
                    assertThat(next).isNotDone();
                    assertThat(abandoned.completeExceptionally(new TimeoutException()))
                            .isTrue();
                    assertThat(next).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
                    first.close();
                });
    }

    @Test
    void futureThatIsCancelledBeforeAThreadIsFreeHoldsNothing() {
        List<Runnable> queue = new CopyOnWriteArrayList<>();
        runner.withPropertyValues("ratelimit.limits.exports.max-wait=1h")
                .withBean("rateLimitExecutor", Executor.class, () -> queue::add)
                .run(context -> {
                    AllCallers limiter = context.getBean(RateLimiterRegistry.class)
                            .get(LIMIT)
                            .allCallers();
                    RateLimiter.Entry first = limiter.enter();
                    AtomicBoolean begun = new AtomicBoolean();
                    CompletableFuture<Object> call = context.getBean(Exports.class)
                            .anythingLater(() -> {
                                begun.set(true);
                                return "done";
                            });
                    first.close();
                    await().until(() -> !queue.isEmpty());
                    assertHeld(limiter, true);
                    // What the caller does after the end of its future comes before what the starter does.
                    var unused = call.whenComplete((value, thrown) -> queue.forEach(Runnable::run));
                    call.cancel(true);
                    assertHeld(limiter, false);
                    assertThat(begun).isFalse();
                });
    }

    @Test
    void limitOfTheConfigurationAloneIsDeclaredByItsAlgorithm() {
        runner.withPropertyValues(
                        "ratelimit.limits.uploads.algorithm=concurrency", "ratelimit.limits.uploads.capacity=2")
                .run(context -> {
                    RateLimiter limiter =
                            context.getBean(RateLimiterRegistry.class).get("uploads");
                    try (RateLimiter.Entry entry = limiter.enter("alice", 2)) {
                        assertThat(entry).isNotNull();
                        assertThat(limiter.peek("alice").allowed()).isFalse();
                    }
                    assertThat(limiter.peek("alice").allowed()).isTrue();
                });
    }

    @Test
    void actualCostOfALimitThatOnlyCodeAppliesStopsTheStartUp() {
        runner.withPropertyValues(
                        "ratelimit.limits.uploads.algorithm=concurrency",
                        "ratelimit.limits.uploads.capacity=2",
                        "ratelimit.limits.uploads.permits-after=5")
                .run(
                        context -> assertThat(LimitedContexts.analysis(context).getDescription())
                                .contains(
                                        "ratelimit.limits.uploads.permits-after must not be set for the algorithm CONCURRENCY"));
    }

    @Test
    void suspendingFunctionAndFlowOfAPointcutAreHeldUntilTheyEnd() {
        Sinks.Many<String> sink = Sinks.many().multicast().directBestEffort();
        runner.withBean(SuspendingQuotes.class, () -> new StreamedQuotes(sink.asFlux()))
                .withPropertyValues(
                        "ratelimit.limits.kotlin.algorithm=concurrency",
                        "ratelimit.limits.kotlin.capacity=1",
                        "ratelimit.limits.kotlin.pointcut=execution(* io.ratelimit.aop.SuspendingQuotes.*(..))")
                .run(context -> {
                    SuspendingQuotes quotes = context.getBean(SuspendingQuotes.class);
                    AllCallers limiter = context.getBean(RateLimiterRegistry.class)
                            .get("kotlin")
                            .allCallers();
                    Method quote = SuspendingQuotes.class.getMethod("quote", String.class, Continuation.class);
                    Supplier<Mono<?>> call =
                            () -> Mono.from(CoroutinesUtils.invokeSuspendingFunction(quote, quotes, "alice", null));
                    assertThat(call.get().block()).isEqualTo("quote for alice");
                    assertHeld(limiter, false);
                    ReactiveAdapter flows =
                            ReactiveAdapterRegistry.getSharedInstance().getAdapter(Flow.class);
                    Flux<Object> stream = Flux.from(flows.toPublisher(quotes.quotes("alice")));
                    StepVerifier.create(stream)
                            .then(() -> sink.tryEmitNext("first"))
                            .expectNext("first")
                            .then(() -> assertHeld(limiter, true))
                            .then(() -> assertThatExceptionOfType(RateLimitExceededException.class)
                                    .isThrownBy(() -> call.get().block()))
                            .thenCancel()
                            .verify();
                    assertHeld(limiter, false);
                    StepVerifier.create(stream)
                            .then(() -> assertHeld(limiter, true))
                            .then(sink::tryEmitComplete)
                            .verifyComplete();
                    assertHeld(limiter, false);
                });
    }

    static class Exports {

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public String value(Supplier<String> work) {
            return work.get();
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1, fallbackMethod = "instead")
        public String withFallback(Supplier<String> work) {
            return work.get();
        }

        public String instead(Supplier<String> work) {
            return "instead";
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public CompletableFuture<String> future(CompletableFuture<String> work) {
            return work;
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1, permits = "2")
        public CompletableFuture<String> large(CompletableFuture<String> work) {
            return work;
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<String> mono(Mono<String> work) {
            return work;
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Flux<String> flux(Flux<String> work) {
            return work;
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Object anything(Supplier<Object> work) {
            return work.get();
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public CompletableFuture<Object> anythingLater(Supplier<Object> work) {
            return CompletableFuture.completedFuture(work.get());
        }

        @RateLimited(name = LIMIT, algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<Object> anythingReactive(Supplier<Object> work) {
            return Mono.fromSupplier(work);
        }
    }

    static class StreamedQuotes extends SuspendingQuotes {

        private final Flux<String> source;

        StreamedQuotes(Flux<String> source) {
            this.source = source;
        }

        @Override
        public Flow<String> quotes(String userId) {
            return ReactiveFlowKt.asFlow(source);
        }
    }

    static class AsyncExports {

        private final CompletableFuture<String> work;

        AsyncExports(CompletableFuture<String> work) {
            this.work = work;
        }

        @Async
        @RateLimited(name = "async-exports", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public CompletableFuture<String> export() {
            return work;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncConfig {}
}
