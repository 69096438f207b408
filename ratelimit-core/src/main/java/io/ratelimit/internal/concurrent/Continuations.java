package io.ratelimit.internal.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Keeps continuations of the application off threads that other callers' deadlines or turns depend on. */
public final class Continuations implements Executor {

    /** Continuations may be slow. The continuations of other calls wait only if so many are slow at once. */
    private static final int THREADS = 256;

    private final Executor threads = DaemonThreads.createOnDemand("ratelimit-late", THREADS);

    /** Runs a continuation on another thread, or on this one if none can be created. */
    @Override
    public void execute(Runnable continuation) {
        DaemonThreads.runApart(threads, continuation);
    }

    /** Returns the same work. Its continuations run on another thread if the work ends on a {@link ServiceThread}. */
    public <T> CompletionStage<T> apart(CompletionStage<T> work) {
        if (work.toCompletableFuture().isDone()) {
            return work;
        }
        CompletableFuture<T> apart = new CompletableFuture<>();
        var unused = work.whenComplete((value, thrown) -> {
            Runnable end = () -> Futures.complete(apart, value, thrown);
            if (ServiceThread.isCurrent()) {
                execute(end);
            } else {
                end.run();
            }
        });
        return apart;
    }
}
