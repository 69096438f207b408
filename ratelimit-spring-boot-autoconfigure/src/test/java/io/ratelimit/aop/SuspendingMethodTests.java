package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.FutureMethodTests.HeldWaiter;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import kotlinx.coroutines.CompletableDeferred;
import kotlinx.coroutines.CompletableDeferredKt;
import kotlinx.coroutines.Deferred;
import kotlinx.coroutines.flow.Flow;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Functions of Kotlin: those that suspend, and those that return a flow. */
class SuspendingMethodTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(1, 0, 0, 0, 1);

    private final StubStore answers = new StubStore();

    private final HeldStore store = new HeldStore(answers);

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(KotlinQuotes.class);

    private final ApplicationContextRunner held = runner.withBean(RateLimitStore.class, () -> store);

    SuspendingMethodTests() {
        answers.answer(YES);
    }

    static Stream<Named<Function<KotlinQuotes, CompletableFuture<?>>>> functions() {
        return Stream.of(
                Named.of("one value", quotes -> Coroutine.quote(quotes, "alice")),
                Named.of("Unit", Coroutine::nothing),
                Named.of("nullable", Coroutine::nullable),
                Named.of("Flow", quotes -> Coroutine.collect(quotes.flow())),
                Named.of("suspending, Flow", Coroutine::suspendingFlow));
    }

    @ParameterizedTest
    @MethodSource("functions")
    void allowedCallGivesWhatTheFunctionGives(Function<KotlinQuotes, CompletableFuture<?>> function) {
        runner.run(context -> assertThat(
                        function.apply(context.getBean(KotlinQuotes.class)).join())
                .isEqualTo(function.apply(new KotlinQuotes()).join()));
    }

    /** From an estimate of 10 permits. */
    @Test
    void functionsAreSettledByWhatTheyReturnOrEmit() {
        runner.withBean("length", Collector.class, () -> Collectors.summingInt(String::length))
                .withPropertyValues(costs("quotes", "#result.length()"))
                .withPropertyValues(costs("flows", "@length"))
                .withPropertyValues(costs("suspending-flows", "#result.length()"))
                .withPropertyValues(costs("nullables", "#result == null ? 3 : 4"))
                .withPropertyValues(costs("failing", "#exception.message.length()"))
                .withPropertyValues("ratelimit.limits.failing.refund-on=java.lang.Error")
                .withPropertyValues(costs("hanging", "1"))
                .run(context -> {
                    KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
                    Coroutine.quote(quotes, "alice").join();
                    Coroutine.collect(quotes.flow()).join();
                    Coroutine.suspendingFlow(quotes).join();
                    Coroutine.nullable(quotes).join();
                    assertThat(Coroutine.failing(quotes)).isCompletedExceptionally();
                    Coroutine.hanging(quotes).cancel(true);
                    assertThat(used(context, "quotes", "alice")).isEqualTo("quote for alice".length());
                    assertThat(used(context, "flows", null)).isEqualTo("firstsecond".length());
                    assertThat(used(context, "suspending-flows", null)).isEqualTo("second".length());
                    assertThat(used(context, "nullables", null)).isEqualTo(3);
                    assertThat(used(context, "failing", null)).isEqualTo("broken".length());
                    assertThat(used(context, "hanging", null)).as("cancelled").isEqualTo(10);
                });
    }

    private static String[] costs(String limit, String permitsAfter) {
        String prefix = "ratelimit.limits." + limit;
        return new String[] {
            prefix + ".rate=100/100s", prefix + ".permits=10", prefix + ".permits-after=" + permitsAfter
        };
    }

    private static long used(AssertableApplicationContext context, String limit, String key) {
        RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get(limit);
        return 100 - (key == null ? limiter.allCallers().peek() : limiter.peek(key)).remaining();
    }

    @ParameterizedTest
    @MethodSource("functions")
    void rejectedCallDoesNotRunTheFunction(Function<KotlinQuotes, CompletableFuture<?>> function) {
        runner.run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            function.apply(quotes).join();
            CompletableFuture<?> rejected = function.apply(quotes);
            assertThat(rejected.handle((value, failure) -> failure).join())
                    .isInstanceOf(RateLimitExceededException.class);
            assertThat(quotes.events()).hasSize(1);
        });
    }

    @ParameterizedTest
    @MethodSource("functions")
    void noThreadWaitsForTheDecision(Function<KotlinQuotes, CompletableFuture<?>> function) {
        held.run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            CompletableFuture<?> call = function.apply(quotes);
            assertThat(call).isNotDone();
            assertThat(quotes.events()).isEmpty();
            store.answerOn("store");
            call.join();
            assertThat(quotes.events()).hasSize(1);
        });
    }

    @Test
    void flowIsChargedWhenItIsCollected() {
        runner.run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            Flow<String> flow = quotes.flow();
            assertThat(context.getBean(RecordingListener.class).outcomes()).isEmpty();
            Coroutine.collect(flow).join();
            assertRejected("flows", Coroutine.collect(flow));
        });
    }

    @Test
    void expressionsSeeWhatTheSourceDeclares() {
        runner.run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            Coroutine.quote(quotes, "alice").join();
            assertThat(Coroutine.byPosition(quotes, "bob").join()).isEqualTo(3);
            assertThat(context.getBean(RecordingListener.class).charges())
                    .extracting(Charge::key)
                    .containsExactly("alice", "bob-2");
            assertThat(context.getBean(RecordingListener.class).limits()).contains("kotlin-quotes-by-position");
        });
    }

    @Test
    void expressionThatFailsIsToldLikeARejection() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=false ? 'a' : null")
                .run(context -> assertThat(Coroutine.quote(context.getBean(KotlinQuotes.class), "alice")
                                .handle((value, failure) -> failure)
                                .join())
                        .isInstanceOf(RateLimitExpressionException.class));
    }

    @Test
    void fallbackSuspendsToo() {
        runner.run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            Coroutine.orStale(quotes).join();
            assertThat(Coroutine.orStale(quotes).join()).isEqualTo("stale for alice");
            Coroutine.orExplained(quotes).join();
            assertThat(Coroutine.orExplained(quotes).join()).isEqualTo("alice: explained");
        });
    }

    @Test
    void failureRefunds() {
        LimitedContexts.inMemory()
                .withBean(KotlinQuotes.class)
                .withBean(RateLimitStore.class, () -> answers)
                .run(context -> {
                    assertThat(Coroutine.failing(context.getBean(KotlinQuotes.class))
                                    .handle((value, failure) -> failure)
                                    .join())
                            .isInstanceOf(IOException.class);
                    assertThat(answers.refunded()).hasSize(1);
                });
    }

    @Test
    void cancelledAfterwardsItKeepsTheCharge() {
        LimitedContexts.inMemory()
                .withBean(KotlinQuotes.class)
                .withBean(RateLimitStore.class, () -> answers)
                .run(context -> {
                    KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
                    CompletableFuture<String> call = Coroutine.hanging(quotes);
                    assertThat(quotes.events()).hasSize(1);
                    call.cancel(true);
                    assertThat(answers.refunded()).isEmpty();
                });
    }

    @Test
    void cancelledWhileItWaitsItWaitsNoLonger() {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        answers.answer(RateLimitDecision.ofMicros(1, 0, 500_000, 0, 1));
        held.withBean(Waiter.class, () -> new HeldWaiter(wait)).run(context -> {
            KotlinQuotes quotes = context.getBean(KotlinQuotes.class);
            CompletableFuture<String> call = Coroutine.quote(quotes, "alice");
            store.answer();
            assertThat(wait).isNotDone();
            call.cancel(true);
            assertThat(wait).isCancelled();
            assertThat(quotes.events()).isEmpty();
        });
    }

    @Test
    void finalClassIsLimitedByItsInterface() {
        LimitedContexts.inMemory().withBean(FinalPrices.class).run(context -> {
            Prices prices = context.getBean(Prices.class);
            assertThat(Coroutine.price(prices, "abc").join()).isEqualTo(3);
            assertRejected("prices", Coroutine.price(prices, "abc"));
            assertThat(Coroutine.price(prices, "de").join()).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {FinalQuotes.class, WithFinalFunction.class})
    void whatIsFinalStopsTheStartUpAndIsToldHowToOpen(Class<?> type) {
        LimitedContexts.inMemory()
                .withBean(type)
                .run(context -> assertThat(analysis(context).getAction())
                        .contains("both the class and the function must be open")
                        .contains("kotlin-spring"));
    }

    @Test
    void compilersNamesAreNotTheLimits() {
        LimitedContexts.inMemory().withBean(QuotesByValueClass.class).run(context -> {
            assertThat(context.getBean(RecordingListener.class).limits())
                    .contains("quotes-by-value-class-quote", "quotes-by-value-class-in-the-module");
            QuotesByValueClass quotes = context.getBean(QuotesByValueClass.class);
            Coroutine.quoteFor(quotes, "alice");
            assertThat(Coroutine.quoteFor(quotes, "alice")).isEqualTo("stale for alice");
            assertThat(context.getBean(RecordingListener.class).keys()).containsOnly("alice");
        });
    }

    /** The JVM passes the String alone. */
    @ParameterizedTest
    @ValueSource(classes = {ReadsAPropertyOfAValueClass.class, ReadsAPropertyOfAValueClassAndSuspends.class})
    void propertyOfAValueClassStopsTheStartUpAndIsToldWhatToWrite(Class<?> type) {
        LimitedContexts.inMemory().withBean(type).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("keyExpression \"#user.id\" reads 'id', which is not a property of java.lang.String.");
            assertThat(analysis.getAction())
                    .endsWith("Kotlin passes a parameter of a value class as its value: write #parameter alone.");
        });
    }

    @Test
    void ordinaryFallbackOfAFunctionThatSuspendsStopsTheStartUp() {
        LimitedContexts.inMemory().withBean(WithOrdinaryFallback.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("fallbackMethod must fit the limited method (was \"stale\"): there is only");
            assertThat(analysis.getAction())
                    .isEqualTo("Declare in WithOrdinaryFallback: suspend String stale(String), or the same with a"
                            + " RateLimitExceededException as last parameter.");
        });
    }

    @Test
    void fallbackThatGivesAnotherTypeStopsTheStartUp() {
        LimitedContexts.inMemory()
                .withBean(WithFallbackOfAnotherType.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("fallbackMethod must fit the limited method (was \"stale\"): there is only"));
    }

    @Test
    void endOfAFunctionIsNotThatOfAFutureThatItReturns() throws Exception {
        assertThat(unobserved("future")).isEqualTo(CompletableFuture.class);
        assertThat(unobserved("nothing")).isNull();
        assertThat(unobserved("suspendingFlow")).isNull();
    }

    @Test
    void deferredIsSettledOnceItCompletes() {
        runner.withBean(Deferring.class)
                .withPropertyValues(costs("deferring", "#result.length()"))
                .run(context -> {
                    CompletableDeferred<String> work = CompletableDeferredKt.CompletableDeferred(null);
                    Deferred<String> call = context.getBean(Deferring.class).quote(work);
                    assertThat(used(context, "deferring", null)).isEqualTo(10);
                    work.complete("quote");
                    assertThat(call.getCompleted()).isEqualTo("quote");
                    assertThat(used(context, "deferring", null)).isEqualTo("quote".length());
                });
    }

    @Test
    void deferredNeedsALibraryOfKotlins() throws Exception {
        ReturnTypeStrategySelector strategies = new ReturnTypeStrategySelector(() -> null, null, null);
        Method method = Deferring.class.getMethod("quote", Deferred.class);
        assertThatThrownBy(() -> strategies.of(method))
                .hasStackTraceContaining("cannot be limited without kotlinx-coroutines-reactor.");
    }

    static class Deferring {

        @RateLimited(name = "deferring", rate = "1/s")
        public Deferred<String> quote(Deferred<String> work) {
            return work;
        }
    }

    private static Class<?> unobserved(String function) throws NoSuchMethodException {
        return LateResults.unobserved(KotlinQuotes.class.getMethod(function, Continuation.class), KotlinQuotes.class);
    }

    @Test
    void whatTheCompilerAddsIsNoParameter() {
        LimitedContexts.inMemory()
                .withBean(NamesTheContinuation.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("names #p1, but the method has no such parameter"));
    }
}
