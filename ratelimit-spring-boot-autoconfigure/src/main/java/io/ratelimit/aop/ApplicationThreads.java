package io.ratelimit.aop;

import java.util.concurrent.Executor;
import java.util.function.Function;

/** The application's own threads, on which a call goes on whose decision took its time. */
public final class ApplicationThreads {

    private final Executor executor;

    private final Function<Runnable, Runnable> propagation;

    /** @param propagation makes of a task one that, run on another thread, sees what belongs to this one */
    public ApplicationThreads(Executor executor, Function<Runnable, Runnable> propagation) {
        this.executor = executor;
        this.propagation = propagation;
    }

    /** For one task, which comes later and will see what belongs to the current thread now. */
    Executor withCallersContext() {
        Task later = new Task();
        Runnable inContext;
        try {
            inContext = propagation.apply(later);
        } catch (RuntimeException ex) {
            return task -> {
                throw ex;
            };
        }
        return task -> {
            later.task = task;
            executor.execute(inContext);
        };
    }

    private static final class Task implements Runnable {

        private volatile Runnable task = () -> {};

        @Override
        public void run() {
            task.run();
        }
    }
}
