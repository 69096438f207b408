package io.ratelimit.aop;

import io.ratelimit.internal.concurrent.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Cancels the future that it waits for when it is cancelled itself. */
final class CancellationLinkedFuture extends CompletableFuture<@Nullable Object> {

    private volatile Future<?> awaited;

    CancellationLinkedFuture(Future<?> awaited) {
        this.awaited = awaited;
    }

    /** Replaces what this future waits for, and returns it. Some stages are no futures, and cannot be cancelled. */
    <T extends CompletionStage<?>> T link(T stage) {
        if (stage instanceof Future<?> next) {
            awaited = next;
            if (isCancelled()) {
                cancel(next);
            }
        }
        return stage;
    }

    void finish(@Nullable Object value, @Nullable Throwable failure) {
        if (failure == null) {
            complete(value);
        } else {
            completeExceptionally(Futures.unwrap(failure));
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            cancel(awaited);
        }
        return cancelled;
    }

    private static void cancel(Future<?> future) {
        try {
            future.cancel(true);
        } catch (UnsupportedOperationException ex) {
            // Some stages cannot be cancelled; their result is ignored.
        }
    }
}
