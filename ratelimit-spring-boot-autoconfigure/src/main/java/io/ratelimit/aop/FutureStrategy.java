package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.store.Refund;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Nobody waits for the decision, and the rejection is in the future. Where the decision is there at once the method runs on
 * the calling thread, otherwise on one of the application's: the store's own must neither be blocked nor ask the store.
 */
final class FutureStrategy implements ReturnTypeStrategy {

    private final CallerRequest.Source requests;

    private final CallThreads threads;

    FutureStrategy(CallerRequest.Source requests, CallThreads threads) {
        this.requests = requests;
        this.threads = threads;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // It is the caller's.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        AcquireRequest entry;
        try {
            entry = call.entry(requests.current());
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        return entry.charges().isEmpty() ? call.proceed() : enter(call, entry);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // Whatever it comes to is the result's.
    private CompletableFuture<@Nullable Object> enter(LimitedCall call, AcquireRequest entry) {
        CompletableFuture<Refund> entered = call.gate().enterAsync(entry).toCompletableFuture();
        CancellationLinkedFuture result = new CancellationLinkedFuture(entered);
        Executor next = entered.isDone() ? Runnable::run : threads.withCallersContext();
        entered.handleAsync((refund, failure) -> follow(call, entry, refund, failure, result), next)
                .thenCompose(Function.identity())
                .whenComplete(result::finish);
        return result;
    }

    private static CompletionStage<@Nullable Object> follow(
            LimitedCall call,
            AcquireRequest entry,
            @Nullable Refund refund,
            @Nullable Throwable failure,
            CancellationLinkedFuture result) {
        if (result.isDone()) {
            return result;
        }
        CompletionStage<@Nullable Object> outcome = outcome(call, failure);
        if (outcome instanceof Future<?> future) {
            result.link(future);
        }
        return refund == null || !entry.refundable() ? outcome : refunding(outcome, call, entry, refund, result);
    }

    /** The method's future, or its fallback's. */
    @SuppressWarnings("unchecked")
    private static CompletionStage<@Nullable Object> outcome(LimitedCall call, @Nullable Throwable failure) {
        try {
            Object outcome = failure == null ? call.proceed() : instead(call, Futures.unwrap(failure));
            return outcome == null
                    ? CompletableFuture.<@Nullable Object>completedFuture(null)
                    : (CompletionStage<@Nullable Object>) outcome;
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private static @Nullable Object instead(LimitedCall call, Throwable failure) throws Throwable {
        if (failure instanceof RateLimitExceededException rejection) {
            return call.instead(rejection);
        }
        throw failure;
    }

    /** A caller that cancels has used its permits, whatever the method's future then fails with. */
    private static CompletionStage<@Nullable Object> refunding(
            CompletionStage<@Nullable Object> outcome,
            LimitedCall call,
            AcquireRequest entry,
            Refund refund,
            CancellationLinkedFuture result) {
        return outcome.handle((value, failure) -> failure == null || result.isCancelled()
                        ? outcome
                        : after(call.giveBack(entry, refund, Futures.unwrap(failure)), outcome))
                .thenCompose(Function.identity());
    }

    /** What the caller does then must not run on the store's thread either. */
    private static CompletionStage<@Nullable Object> after(
            CompletionStage<Void> givenBack, CompletionStage<@Nullable Object> outcome) {
        return givenBack.toCompletableFuture().isDone()
                ? outcome
                : givenBack.<@Nullable Object>thenComposeAsync(done -> outcome);
    }
}
