package io.ratelimit.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Runs what applications have follow a decision, and never on a thread that other callers depend on for their deadlines. */
public final class Continuations {

    /** Continuations may be slow. The continuations of other calls wait only if so many are slow at once. */
    private static final int THREADS = 256;

    private final Executor threads = DaemonThreads.create("ratelimit-late", THREADS, Integer.MAX_VALUE);

    /** The same work, for others to follow. */
    public <T> CompletionStage<T> apart(CompletionStage<T> work) {
        if (work.toCompletableFuture().isDone()) {
            return work;
        }
        CompletableFuture<T> apart = new CompletableFuture<>();
        var unused = work.whenComplete((value, thrown) -> {
            if (ServiceThread.isCurrent()) {
                later(apart, value, thrown);
            } else {
                complete(apart, value, thrown);
            }
        });
        return apart;
    }

    private <T> void later(CompletableFuture<T> apart, T value, @Nullable Throwable thrown) {
        try {
            threads.execute(() -> complete(apart, value, thrown));
        } catch (Throwable ex) {
            // No thread can be had.
            complete(apart, value, thrown);
        }
    }

    private static <T> void complete(CompletableFuture<T> apart, T value, @Nullable Throwable thrown) {
        if (thrown == null) {
            apart.complete(value);
        } else {
            apart.completeExceptionally(thrown);
        }
    }
}
