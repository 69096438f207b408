package io.ratelimit.aop;

import io.ratelimit.concurrent.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A future that, cancelled, cancels what it waits for. */
final class CancellationLinkedFuture extends CompletableFuture<@Nullable Object> {

    private volatile Future<?> awaited;

    CancellationLinkedFuture(Future<?> awaited) {
        this.awaited = awaited;
    }

    /** From now on it waits for another. */
    void link(Future<?> next) {
        awaited = next;
        if (isCancelled()) {
            cancel(next);
        }
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

    /** Some stages look like a future, and are none. */
    private static void cancel(Future<?> future) {
        try {
            future.cancel(true);
        } catch (UnsupportedOperationException ex) {
            // Then it cannot be told; its result is nobody's.
        }
    }
}
