package io.ratelimit.aop;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * Continues a call on another thread, with the context of the calling thread, after an asynchronous decision. The executor is
 * unbounded, because threads of a bounded one could all wait for calls that need a thread, too.
 *
 * @param propagation wraps a task so that it runs with the context of the current thread
 */
public record ContextPropagatingExecutor(Executor executor, Function<Runnable, Runnable> propagation) {

    /** Returns an executor for one later task, which runs with the current context of the current thread. */
    Executor withCallersContext() {
        ClassLoader callers = Thread.currentThread().getContextClassLoader();
        AtomicReference<Runnable> later = new AtomicReference<>(() -> {});
        Runnable inContext;
        try {
            inContext = propagation.apply(() -> run(later.get(), callers));
        } catch (RuntimeException ex) {
            return task -> {
                throw ex;
            };
        }
        return task -> {
            later.set(task);
            executor.execute(inContext);
        };
    }

    private static void run(Runnable task, ClassLoader classLoader) {
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
