package io.ratelimit.aop;

import io.ratelimit.concurrent.BoundedWait;
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
 * Returns the rejection in the future and blocks no thread. If the decision is immediate, the method runs on the calling
 * thread, otherwise on a thread of the application, because a thread of the store must not block.
 */
final class FutureStrategy implements ReturnTypeStrategy {

    private final CallerRequest.Source requests;

    private final ContextPropagatingExecutor executor;

    FutureStrategy(CallerRequest.Source requests, ContextPropagatingExecutor executor) {
        this.requests = requests;
        this.executor = executor;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The caller uses it.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        AcquireRequest acquire;
        try {
            CompletableFuture<AcquireRequest> planned = call.acquireRequestAsync(requests.current());
            if (!planned.isDone()) {
                return enterLater(call, planned);
            }
            acquire = BoundedWait.result(planned);
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        return acquire.charges().isEmpty() ? call.proceed() : enter(call, acquire);
    }

    /** Waits for the plan of the caller. */
    @SuppressWarnings("FutureReturnValueIgnored") // The result completes with its outcome.
    private CompletableFuture<@Nullable Object> enterLater(
            LimitedCall call, CompletableFuture<AcquireRequest> planned) {
        CancellationLinkedFuture result = new CancellationLinkedFuture(planned);
        planned.thenComposeAsync(
                        acquire -> {
                            CompletionStage<@Nullable Object> outcome =
                                    acquire.charges().isEmpty() ? outcome(call, null) : enter(call, acquire);
                            if (outcome instanceof Future<?> future) {
                                result.link(future);
                            }
                            return outcome;
                        },
                        executor.withCallersContext())
                .whenComplete(result::finish);
        return result;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The result completes with its outcome.
    private CompletableFuture<@Nullable Object> enter(LimitedCall call, AcquireRequest acquire) {
        CompletableFuture<Refund> entered = call.gate().enterAsync(acquire).toCompletableFuture();
        CancellationLinkedFuture result = new CancellationLinkedFuture(entered);
        Executor next = entered.isDone() ? Runnable::run : executor.withCallersContext();
        entered.handleAsync((refund, failure) -> follow(call, acquire, refund, failure, result), next)
                .thenCompose(Function.identity())
                .whenComplete(result::finish);
        return result;
    }

    private static CompletionStage<@Nullable Object> follow(
            LimitedCall call,
            AcquireRequest acquire,
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
        return refund == null || !acquire.refundable() ? outcome : refunding(outcome, call, acquire, refund, result);
    }

    /** Returns the future of the method or of its fallback. */
    @SuppressWarnings("unchecked")
    private static CompletionStage<@Nullable Object> outcome(LimitedCall call, @Nullable Throwable failure) {
        try {
            Object outcome = failure == null ? call.proceed() : call.fallback(Futures.unwrap(failure));
            return outcome == null
                    ? CompletableFuture.<@Nullable Object>completedFuture(null)
                    : (CompletionStage<@Nullable Object>) outcome;
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /** Refunds after a failure, unless the caller has cancelled the result: then the permits count as used. */
    private static CompletionStage<@Nullable Object> refunding(
            CompletionStage<@Nullable Object> outcome,
            LimitedCall call,
            AcquireRequest acquire,
            Refund refund,
            CancellationLinkedFuture result) {
        return outcome.handle((value, failure) -> failure == null || result.isCancelled()
                        ? outcome
                        : after(call.refund(acquire, refund, Futures.unwrap(failure)), outcome))
                .thenCompose(Function.identity());
    }

    /** Continues after the refund, and not on a thread of the store. */
    private static CompletionStage<@Nullable Object> after(
            CompletionStage<Void> refunded, CompletionStage<@Nullable Object> outcome) {
        return refunded.toCompletableFuture().isDone()
                ? outcome
                : refunded.<@Nullable Object>thenComposeAsync(done -> outcome);
    }
}
