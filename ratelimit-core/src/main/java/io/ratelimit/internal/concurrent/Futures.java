package io.ratelimit.internal.concurrent;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Starts asynchronous work that never throws, and reads what it has failed with. */
public final class Futures {

    private Futures() {}

    /** Returns the work, or a future that fails with what starting it has thrown. */
    public static <T> CompletableFuture<T> start(Supplier<? extends CompletionStage<T>> work) {
        try {
            return work.get().toCompletableFuture();
        } catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Starts work for each, and is done when all of it is. Fails with one of the failures. */
    public static <T> CompletableFuture<Void> forAll(
            Collection<T> all, Function<? super T, ? extends CompletionStage<?>> work) {
        return CompletableFuture.allOf(
                all.stream().map(one -> work.apply(one).toCompletableFuture()).toArray(CompletableFuture[]::new));
    }

    /** Completes the work with a value, or with the failure if there is one. */
    public static <T> void complete(CompletableFuture<T> work, @Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            work.complete(value);
        } else {
            work.completeExceptionally(failure);
        }
    }

    /** Returns the failure itself, without the exception that a dependent stage wraps it in. */
    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
        return cause == null ? failure : cause;
    }

    /** Returns the failure for a dependent stage to throw, wrapped at most once. */
    public static CompletionException wrap(@Nullable Throwable failure) {
        return failure instanceof CompletionException wrapped ? wrapped : new CompletionException(failure);
    }

    /** Returns the failure for the calling thread to throw: itself, if it may be thrown. */
    public static RuntimeException unchecked(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException known ? known : new CompletionException(failure);
    }
}
