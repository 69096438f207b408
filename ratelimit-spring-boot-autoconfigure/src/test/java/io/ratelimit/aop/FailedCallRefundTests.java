package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What a method's failure refunds. Two limits: one for every exception, one for I/O alone. */
class FailedCallRefundTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(1, 0, 0, 0, 1);

    private static final RateLimitDecision NO = RateLimitDecision.ofMicros(1, 0, 0, 1, 1);

    private final IOException failure = new FileNotFoundException();

    private final StubStore store = new StubStore();

    private final Imports target = new Imports();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(RateLimitStore.class, () -> store)
            .withBean(Imports.class, () -> target);

    FailedCallRefundTests() {
        store.answer(YES, YES, YES);
    }

    @Test
    void failureRefundsOnceWhatNamesItsTypeOrASuperclass() {
        runner.run(context -> {
            target.failure = failure;
            assertThat(catchThrowable(() -> context.getBean(Imports.class).plain()))
                    .isSameAs(failure);
            assertThat(refunded()).containsExactly(List.of("any", "io"));
        });
    }

    @Test
    void limitWhoseTypesDoNotMatchKeepsItsCharge() {
        runner.run(context -> {
            target.failure = new IllegalStateException();
            assertThat(catchThrowable(() -> context.getBean(Imports.class).plain()))
                    .isSameAs(target.failure);
            assertThat(refunded()).containsExactly(List.of("any"));
        });
    }

    @Test
    void successKeepsTheCharge() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            imports.plain();
            imports.future().join();
            imports.mono().block();
            imports.flux().blockLast();
            assertThat(refunded()).isEmpty();
        });
    }

    @Test
    void failureThatNoLimitNamesAsksForNothing() {
        runner.run(context -> {
            target.failure = new Exception();
            assertThat(catchThrowable(() -> context.getBean(Imports.class).ofIo()))
                    .isSameAs(target.failure);
            assertThat(refunded()).isEmpty();
        });
    }

    @Test
    void rejectionHasNothingToRefund() {
        runner.run(context -> {
            store.answer(YES, NO, YES);
            Imports imports = context.getBean(Imports.class);
            assertThat(catchThrowable(imports::plain)).isInstanceOf(RateLimitExceededException.class);
            assertThat(imports.future()).isCompletedExceptionally();
            StepVerifier.create(imports.mono()).verifyError(RateLimitExceededException.class);
            StepVerifier.create(imports.flux()).verifyError(RateLimitExceededException.class);
            assertThat(refunded()).isEmpty();
        });
    }

    @Test
    void whatAFutureFailsWithCountsLikeWhatIsThrown() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            target.future = CompletableFuture.failedFuture(new CompletionException(failure));
            assertThat(failure(imports.future())).isSameAs(failure);
            target.failure = failure;
            assertThat(failure(imports.future())).isSameAs(failure);
            assertThat(refunded()).containsExactly(List.of("any", "io"), List.of("any", "io"));
        });
    }

    @Test
    void whatAPublisherFailsWithCountsLikeWhatIsThrown() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            target.values = Flux.just("first").concatWith(Mono.error(failure));
            StepVerifier.create(imports.flux())
                    .expectNext("first")
                    .verifyErrorMatches(signalled -> signalled == failure);
            StepVerifier.create(imports.mono()).verifyErrorMatches(signalled -> signalled == failure);
            target.failure = failure;
            StepVerifier.create(imports.flux()).verifyErrorMatches(signalled -> signalled == failure);
            assertThat(refunded()).hasSize(3).containsOnly(List.of("any", "io"));
        });
    }

    /** Reactor throws it, and does not signal it: the subscribers would wait for ever. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void linkageErrorOfAPublisherCountsLikeWhatIsThrown() {
        runner.withPropertyValues("ratelimit.limits.any.refund-on=java.lang.LinkageError")
                .run(context -> {
                    target.values = Flux.just(1).map(value -> {
                        throw new NoClassDefFoundError("com/acme/Missing");
                    });
                    Imports imports = context.getBean(Imports.class);
                    StepVerifier.create(imports.flux()).verifyError(NoClassDefFoundError.class);
                    StepVerifier.create(imports.mono()).verifyError(NoClassDefFoundError.class);
                    assertThat(refunded()).hasSize(2).containsOnly(List.of("any"));
                });
    }

    @Test
    void everySubscriptionRefundsItsOwn() {
        runner.run(context -> {
            target.values = Flux.error(failure);
            StepVerifier.create(context.getBean(Imports.class).flux().retry(2))
                    .verifyErrorMatches(signalled -> signalled == failure);
            assertThat(store.asked()).hasSize(3);
            assertThat(refunded()).hasSize(3);
        });
    }

    @Test
    void futureFailsWhenItIsRefunded() {
        HeldStore held = new HeldStore(store);
        LimitedContexts.inMemory()
                .withBean(RateLimitStore.class, () -> held)
                .withBean(Imports.class, () -> target)
                .withBean("rateLimitExecutor", Executor.class, () -> Runnable::run)
                .run(context -> {
                    target.failure = failure;
                    CompletableFuture<String> call =
                            context.getBean(Imports.class).future();
                    CompletableFuture<String> heardOn = new CompletableFuture<>();
                    var unused = call.whenComplete((value, failure) ->
                            heardOn.complete(Thread.currentThread().getName()));
                    held.answer();
                    assertThat(held.waiting()).isEqualTo(1);
                    assertThat(call).isNotDone();
                    held.answerOn("store");
                    assertThat(failure(call)).isSameAs(failure);
                    assertThat(refunded()).hasSize(1);
                    assertThat(heardOn.join()).isNotEqualTo("store");
                });
    }

    @Test
    void publisherFailsWhenItIsRefunded() {
        HeldStore held = new HeldStore(store);
        LimitedContexts.inMemory()
                .withBean(RateLimitStore.class, () -> held)
                .withBean(Imports.class, () -> target)
                .run(context -> {
                    target.values = Flux.error(failure);
                    CompletableFuture<String> heardOn = new CompletableFuture<>();
                    CompletableFuture<Void> failed = new CompletableFuture<>();
                    target.values = target.values.doOnTerminate(() -> failed.complete(null));
                    context.getBean(Imports.class)
                            .flux()
                            .subscribe(
                                    value -> {},
                                    failure -> heardOn.complete(
                                            Thread.currentThread().getName()));
                    held.answer();
                    failed.join();
                    assertThat(heardOn).isNotDone();
                    await().until(() -> held.waiting() == 1);
                    held.answerOn("store");
                    assertThat(heardOn.join()).isNotEqualTo("store");
                    assertThat(refunded()).hasSize(1);
                });
    }

    @Test
    void callerThatCancelsHasUsedItsPermits() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            target.future = new CompletableFuture<>();
            imports.future().cancel(true);
            assertThat(target.future).isCancelled();
            target.values = Flux.never();
            imports.mono().subscribe().dispose();
            imports.flux().subscribe().dispose();
            assertThat(refunded()).isEmpty();
        });
    }

    @Test
    void storeThatCannotRefundDoesNotHideTheFailure() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            RateLimitStoreException down = new RateLimitStoreException(Reason.ERROR, "down", null);
            IllegalStateException failure = new IllegalStateException();
            target.values = Flux.defer(() -> {
                store.fail(down);
                return Flux.error(failure);
            });
            StepVerifier.create(imports.flux()).verifyErrorMatches(heard -> heard == failure);
            assertThat(failure.getSuppressed()).containsExactly(down);
        });
    }

    @Test
    void plainFutureTellsNobodyThatItFailed() {
        LimitedContexts.inMemory().withBean(OfPlainFuture.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + OfPlainFuture.class.getName() + ".call()")
                    .contains("refundOn of the limit 'futures' must be empty, because the failure of a"
                            + " java.util.concurrent.Future cannot be observed.");
            assertThat(analysis.getAction()).isEqualTo("Return a CompletableFuture, or remove refundOn.");
        });
    }

    @Test
    void otherFuturesThanCompletableOnesTellNobodyEither() {
        LimitedContexts.inMemory()
                .withBean(OfFutureTask.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("refundOn of the limit 'futures' must be empty, because the failure of a"
                                + " java.util.concurrent.FutureTask cannot be observed."));
    }

    private List<List<String>> refunded() {
        return store.refunded().stream()
                .map(charges -> charges.stream()
                        .map(Charge::limit)
                        .map(limit -> limit.name())
                        .toList())
                .toList();
    }

    private static Throwable failure(CompletableFuture<?> call) {
        return call.handle((value, failure) -> failure).join();
    }

    static class Imports {

        private Exception failure;

        private CompletableFuture<String> future = CompletableFuture.completedFuture("imported");

        private Flux<String> values = Flux.just("imported");

        @RateLimited(name = "any", rate = "1/s", refundOn = Exception.class)
        @RateLimited(name = "io", rate = "1/s", refundOn = IOException.class)
        @RateLimited(name = "never", rate = "1/s")
        public String plain() throws Exception {
            fail();
            return "imported";
        }

        @RateLimited(name = "io", rate = "1/s", refundOn = IOException.class)
        public void ofIo() throws Exception {
            fail();
        }

        @RateLimited(name = "any", rate = "1/s", refundOn = Exception.class)
        @RateLimited(
                name = "io",
                rate = "1/s",
                refundOn = {IllegalArgumentException.class, IOException.class})
        @RateLimited(name = "never", rate = "1/s")
        public CompletableFuture<String> future() throws Exception {
            fail();
            return future;
        }

        @RateLimited(name = "any", rate = "1/s", refundOn = Exception.class)
        @RateLimited(name = "io", rate = "1/s", refundOn = IOException.class)
        @RateLimited(name = "never", rate = "1/s")
        public Mono<String> mono() {
            return values.last();
        }

        @RateLimited(name = "any", rate = "1/s", refundOn = Exception.class)
        @RateLimited(name = "io", rate = "1/s", refundOn = IOException.class)
        @RateLimited(name = "never", rate = "1/s")
        public Flux<String> flux() throws Exception {
            fail();
            return values;
        }

        private void fail() throws Exception {
            if (failure != null) {
                throw failure;
            }
        }
    }

    static class OfFutureTask {

        @RateLimited(name = "futures", rate = "1/s", refundOn = Exception.class)
        public FutureTask<String> call() {
            return new FutureTask<>(() -> "");
        }
    }

    static class OfPlainFuture {

        @RateLimited(name = "futures", rate = "1/s", refundOn = Exception.class)
        public Future<String> call() {
            return CompletableFuture.completedFuture("");
        }
    }
}
