package io.ratelimit.aop;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.Settlement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Returns the rejection in the future and blocks no thread. If the decision is immediate, the method runs on the calling
 * thread, otherwise on a thread of the application, because a thread of the store must not block.
 */
record FutureStrategy(RequestCall.Source requests, CallExecutor executor) implements ReturnTypeStrategy {

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The caller uses it.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        // Waits for the plan of the caller.
        CompletableFuture<AcquireRequest> planned = Futures.start(() -> call.acquireRequestAsync(requests.current()));
        if (planned.isDone()
                && !planned.isCompletedExceptionally()
                && BoundedWait.result(planned).charges().isEmpty()) {
            return call.proceed();
        }
        CancellationLinkedFuture result = new CancellationLinkedFuture(planned);
        planned.<@Nullable Object>thenComposeAsync(
                        known -> result.isDone() ? result : enter(call, known, result), next(planned.isDone()))
                .whenComplete(result::finish);
        return result;
    }

    /** Returns where the call continues: on this thread, if nothing is awaited. */
    private Executor next(boolean done) {
        return done ? Runnable::run : executor.withCallersContext();
    }

    private CompletionStage<@Nullable Object> enter(
            LimitedCall call, AcquireRequest acquire, CancellationLinkedFuture result) {
        if (acquire.charges().isEmpty()) {
            return result.link(outcome(call, null));
        }
        CompletableFuture<Settlement> entered =
                result.link(call.gate().enterAsync(acquire).toCompletableFuture());
        boolean decided = entered.isDone();
        AtomicBoolean begun = new AtomicBoolean();
        if (!decided) {
            // The caller may give the call up, such as by a timeout, while it waits for its permits or for a thread.
            var unused = result.whenComplete((value, thrown) -> {
                if (begun.compareAndSet(false, true)) {
                    entered.cancel(false);
                    var unusedToo = entered.thenAccept(Settlement::release);
                }
            });
        }
        return entered.handleAsync(
                        (settlement, failure) -> {
                            // The caller's own actions after the end come before the one above.
                            if (result.isDone() || !begun.compareAndSet(false, true)) {
                                if (settlement != null) {
                                    settlement.release();
                                }
                                return result;
                            }
                            CompletionStage<@Nullable Object> outcome = result.link(outcome(call, failure));
                            return settlement == null || !acquire.refundable()
                                    ? outcome
                                    : settling(call, outcome, new CallSettlement(call, acquire, settlement), result);
                        },
                        next(decided))
                .whenComplete((followed, refused) -> {
                    // The executor may have no thread for the call.
                    if (refused != null && !entered.isCompletedExceptionally()) {
                        CallSettlement.neverBegun(call, acquire, entered.getNow(Settlement.NONE), refused);
                    }
                })
                .thenCompose(Function.identity());
    }

    /** Returns the future of the method or of its fallback. */
    @SuppressWarnings("unchecked")
    private static CompletionStage<@Nullable Object> outcome(LimitedCall call, @Nullable Throwable failure) {
        try {
            Object outcome = failure == null ? call.proceedLater() : call.fallback(Futures.unwrap(failure));
            return outcome == null
                    ? CompletableFuture.<@Nullable Object>completedFuture(null)
                    : (CompletionStage<@Nullable Object>) outcome;
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /**
     * Settles the call when its future is complete. Permits that it holds are released whether or not the caller has cancelled the
     * result, and others then count as used.
     */
    private static CompletionStage<@Nullable Object> settling(
            LimitedCall call,
            CompletionStage<@Nullable Object> outcome,
            CallSettlement settlement,
            CancellationLinkedFuture result) {
        return outcome.handle((value, failure) -> {
                    settlement.release();
                    call.returned(value);
                    if (result.isCancelled()) {
                        settlement.cancelled();
                    } else if (failure != null) {
                        return after(settlement.refund(Futures.unwrap(failure)), outcome);
                    } else {
                        Object followed = settlement.returned(value);
                        if (followed != value) {
                            return CompletableFuture.<@Nullable Object>completedFuture(followed);
                        }
                    }
                    return outcome;
                })
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
