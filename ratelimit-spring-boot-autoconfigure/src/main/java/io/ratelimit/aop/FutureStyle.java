package io.ratelimit.aop;

import io.ratelimit.Entry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.Refund;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Nobody waits for the decision, and the rejection is in the future. Where the decision is there at once the method runs on
 * the calling thread, otherwise on one of the application's: the store's own must neither be blocked nor ask the store.
 */
final class FutureStyle implements CallStyle {

    private final CallerRequest.Source requests;

    private final Executor executor;

    private final Function<Runnable, Runnable> propagation;

    /** @param propagation makes of a task one that, run on another thread, sees what belongs to this one */
    FutureStyle(CallerRequest.Source requests, Executor executor, Function<Runnable, Runnable> propagation) {
        this.requests = requests;
        this.executor = executor;
        this.propagation = propagation;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // It is the caller's.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        Entry entry;
        try {
            entry = call.entry(requests.current());
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        return entry.charges().isEmpty() ? call.proceed() : enter(call, entry);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // Whatever it comes to is the result's.
    private CompletableFuture<@Nullable Object> enter(LimitedCall call, Entry entry) {
        CompletableFuture<Refund> entered = call.gate().enterAsync(entry).toCompletableFuture();
        LinkedFuture result = new LinkedFuture(entered);
        Executor next = entered.isDone() ? Runnable::run : inContext();
        entered.handleAsync((refund, failure) -> follow(call, entry, refund, failure, result), next)
                .thenCompose(Function.identity())
                .whenComplete(result::finish);
        return result;
    }

    /** Takes along what belongs to the calling thread now; the task comes later, on another. */
    private Executor inContext() {
        Task later = new Task();
        Runnable inContext = propagation.apply(later);
        return task -> {
            later.task = task;
            executor.execute(inContext);
        };
    }

    private static CompletionStage<@Nullable Object> follow(
            LimitedCall call, Entry entry, @Nullable Refund refund, @Nullable Throwable failure, LinkedFuture result) {
        if (result.isDone()) {
            return result;
        }
        CompletionStage<@Nullable Object> outcome = outcome(call, failure);
        result.link(outcome.toCompletableFuture());
        return refund == null || !entry.refundable() ? outcome : refunding(outcome, call, entry, refund);
    }

    /** The method's future, or its fallback's. */
    @SuppressWarnings("unchecked")
    private static CompletionStage<@Nullable Object> outcome(LimitedCall call, @Nullable Throwable failure) {
        try {
            Object outcome = failure == null ? call.proceed() : instead(call, unwrapped(failure));
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

    private static CompletionStage<@Nullable Object> refunding(
            CompletionStage<@Nullable Object> outcome, LimitedCall call, Entry entry, Refund refund) {
        return outcome.exceptionallyCompose(failure -> call.giveBack(entry, refund, unwrapped(failure))
                .thenCompose(done -> CompletableFuture.failedFuture(failure)));
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private static final class Task implements Runnable {

        private volatile Runnable task = () -> {};

        @Override
        public void run() {
            task.run();
        }
    }

    /** A future that, cancelled, cancels what it waits for. */
    private static final class LinkedFuture extends CompletableFuture<@Nullable Object> {

        private volatile CompletableFuture<?> awaited;

        LinkedFuture(CompletableFuture<?> awaited) {
            this.awaited = awaited;
        }

        void link(CompletableFuture<?> next) {
            awaited = next;
            if (isCancelled()) {
                next.cancel(true);
            }
        }

        void finish(@Nullable Object value, @Nullable Throwable failure) {
            if (failure == null) {
                complete(value);
            } else {
                completeExceptionally(unwrapped(failure));
            }
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean cancelled = super.cancel(mayInterruptIfRunning);
            if (cancelled) {
                awaited.cancel(mayInterruptIfRunning);
            }
            return cancelled;
        }
    }
}
