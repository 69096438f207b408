package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.AllCallers;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.aop.ConcurrencyTests.Exports;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;

/** Code holds the permits of a concurrency limit by an entry, or while work that it passes is done. */
class ConcurrencyEntryTests {

    private static final String LIMIT = "exports";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Exports.class);

    private void run(Checks checks) {
        runner.run(context -> checks.check(
                context.getBean(RateLimiterRegistry.class).get(LIMIT).allCallers()));
    }

    @FunctionalInterface
    private interface Checks {

        void check(AllCallers limiter) throws Exception;
    }

    private static void assertHeld(AllCallers limiter, boolean held) {
        assertThat(limiter.peek().allowed()).isEqualTo(!held);
    }

    @Test
    void entryIsReleasedOnce() {
        run(limiter -> {
            RateLimiter.Entry first = limiter.enter();
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(limiter::enter);
            first.close();
            RateLimiter.Entry second = limiter.enter();
            first.close();
            assertHeld(limiter, true);
            second.close();
            RateLimiter.Entry third = limiter.enterAsync().toCompletableFuture().join();
            assertThat(limiter.enterAsync().toCompletableFuture()).isCompletedExceptionally();
            third.close();
            assertHeld(limiter, false);
        });
    }

    /** By another thread than that which entered, and by several at once. */
    @Test
    void entryThatManyThreadsCloseIsReleasedOnce() {
        runner.withPropertyValues("ratelimit.limits.exports.capacity=2").run(context -> {
            AllCallers limiter =
                    context.getBean(RateLimiterRegistry.class).get(LIMIT).allCallers();
            RateLimiter.Entry other = limiter.enter();
            for (int i = 0; i < 200; i++) {
                RateLimiter.Entry entry = limiter.enter();
                CompletableFuture<?>[] closing = Stream.generate(() -> CompletableFuture.runAsync(entry::close))
                        .limit(4)
                        .toArray(CompletableFuture[]::new);
                CompletableFuture.allOf(closing).join();
                assertThat(limiter.peek().remaining()).isEqualTo(1);
            }
            other.close();
            assertThat(limiter.peek().remaining()).isEqualTo(2);
        });
    }

    @Test
    void workIsCalledWhilePermitsAreHeld() {
        run(limiter -> {
            assertThat(limiter.call(() -> limiter.peek().allowed())).isFalse();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> limiter.call(() -> {
                        throw new IOException();
                    }));
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> call = limiter.callAsync(() -> work).toCompletableFuture();
            assertHeld(limiter, true);
            work.complete("done");
            assertThat(call.join()).isEqualTo("done");
            assertThat(limiter.callAsync(() -> {
                                throw new IllegalArgumentException();
                            })
                            .toCompletableFuture())
                    .isCompletedExceptionally();
            assertHeld(limiter, false);
        });
    }

    /** As with a timeout of the caller's own. Without the permits the work is not started, and nothing would release them later. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callThatIsGivenUpWhileItWaitsHoldsNothing(boolean cancelled) {
        runner.withPropertyValues("ratelimit.limits.exports.max-wait=1m").run(context -> {
            AllCallers limiter =
                    context.getBean(RateLimiterRegistry.class).get(LIMIT).allCallers();
            RateLimiter.Entry first = limiter.enter();
            CompletableFuture<String> abandoned = limiter.<String>callAsync(() -> {
                        throw new AssertionError("must not be called");
                    })
                    .toCompletableFuture();
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> next = limiter.callAsync(() -> work).toCompletableFuture();
            assertThat(cancelled ? abandoned.cancel(false) : abandoned.completeExceptionally(new TimeoutException()))
                    .isTrue();
            first.close();
            work.complete("done");
            assertThat(next).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
            assertHeld(limiter, false);
        });
    }

    /** The work of a call goes on after the call is cancelled, and holds its permits. */
    @Test
    void callThatIsGivenUpWhileItRunsHoldsItsPermitsUntilTheWorkEnds() {
        run(limiter -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            limiter.callAsync(() -> work).toCompletableFuture().cancel(false);
            assertThat(work).isNotDone();
            assertHeld(limiter, true);
            work.complete("done");
            assertHeld(limiter, false);
        });
    }

    @Test
    void workThatReturnsNoStageHoldsNothing() {
        run(limiter -> {
            assertThat(limiter.callAsync(() -> null).toCompletableFuture())
                    .failsWithin(Duration.ZERO)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(NullPointerException.class);
            assertHeld(limiter, false);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void entryOfSeveralLimitsHoldsThePermitsOfAll(boolean async) {
        runner.withBean(
                        "pages",
                        RateLimit.class,
                        () -> RateLimit.named("pages").rate("2/h").build())
                .run(context -> {
                    RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
                    List<PermitRequest> requests =
                            List.of(PermitRequest.forAllCallers(LIMIT), new PermitRequest("pages", "alice"));
                    Callable<RateLimiter.Entry> enter = () -> async
                            ? registry.enterAllAsync(requests)
                                    .toCompletableFuture()
                                    .get()
                            : registry.enterAll(requests);
                    RateLimiter.Entry entry = enter.call();
                    assertHeld(registry.get(LIMIT).allCallers(), true);
                    assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(enter::call)))
                            .isInstanceOf(RateLimitExceededException.class);
                    assertThat(registry.get("pages").peek("alice").remaining()).isEqualTo(1);
                    entry.close();
                    assertHeld(registry.get(LIMIT).allCallers(), false);
                });
    }

    @Test
    void entryOfDisabledLimitsHoldsNothing() {
        runner.withPropertyValues("ratelimit.limits.exports.enabled=false").run(context -> {
            RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
            List<PermitRequest> requests = List.of(PermitRequest.forAllCallers(LIMIT));
            registry.enterAll(requests).close();
            assertThat(registry.enterAllAsync(requests)).isCompleted();
        });
    }

    @Test
    void permitsThatNothingWouldReleaseAreRefused() {
        runner.run(context -> {
            RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
            AllCallers limiter = registry.get(LIMIT).allCallers();
            assertThatIllegalStateException()
                    .isThrownBy(limiter::tryAcquire)
                    .withMessage(
                            "Limit 'exports' has the algorithm CONCURRENCY, so its permits must be released. Call enter or"
                                    + " call instead of tryAcquire, acquire or charge");
            assertThatIllegalStateException().isThrownBy(limiter::acquire);
            assertThat(limiter.tryAcquireAsync().toCompletableFuture()).isCompletedExceptionally();
            assertThat(limiter.acquireAsync().toCompletableFuture()).isCompletedExceptionally();
            assertThatIllegalStateException()
                    .isThrownBy(() -> registry.tryAcquireAll(List.of(PermitRequest.forAllCallers(LIMIT, 1))));
            assertHeld(limiter, false);
        });
    }
}
