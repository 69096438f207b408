package io.ratelimit.aop;

import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Threads that may wait, on which a call goes on whose decision took its time. As many as there are such calls: of a bounded
 * number all could wait for calls that have none left.
 */
public final class CallThreads {

    private final Executor executor;

    private final Function<Runnable, Runnable> propagation;

    /** @param propagation makes of a task one that, run on another thread, sees what belongs to this one */
    public CallThreads(Executor executor, Function<Runnable, Runnable> propagation) {
        this.executor = executor;
        this.propagation = propagation;
    }

    /** For one task, which comes later and will see what belongs to the current thread now. */
    Executor withCallersContext() {
        Task later = new Task(Thread.currentThread().getContextClassLoader());
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

        private final ClassLoader classLoader;

        private volatile Runnable task = () -> {};

        Task(ClassLoader classLoader) {
            this.classLoader = classLoader;
        }

        @Override
        public void run() {
            Thread thread = Thread.currentThread();
            ClassLoader own = thread.getContextClassLoader();
            thread.setContextClassLoader(classLoader);
            try {
                task.run();
            } finally {
                thread.setContextClassLoader(own);
            }
        }
    }
}
