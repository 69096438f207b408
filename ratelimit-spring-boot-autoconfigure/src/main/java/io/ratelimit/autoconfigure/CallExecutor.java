package io.ratelimit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs the calls that continue after an asynchronous decision: on the application's executor {@link #BEAN_NAME}, otherwise
 * on an unbounded pool whose threads end after a minute without work. It is not an {@link Executor}, because Spring Boot would
 * use such a bean as the application's.
 */
final class CallExecutor implements DisposableBean {

    /** The name of the application's executor. */
    static final String BEAN_NAME = "rateLimitExecutor";

    private final ThreadPoolTaskExecutor own = new ThreadPoolTaskExecutor();

    private final SingletonSupplier<Executor> executor;

    private volatile boolean closed;

    CallExecutor(ObjectProvider<Executor> ofApplication) {
        own.setThreadNamePrefix("ratelimit-");
        own.setCorePoolSize(0);
        own.setQueueCapacity(0);
        own.setDaemon(true);
        this.executor = SingletonSupplier.of(() -> ofApplication.getIfAvailable(this::ownExecutor));
    }

    private Executor ownExecutor() {
        own.initialize();
        return own;
    }

    /** Runs the task. After shutdown, each task gets a thread of its own. */
    void execute(Runnable task) {
        try {
            executor.obtain().execute(task);
        } catch (RejectedExecutionException ex) {
            if (!closed) {
                throw ex;
            }
            own.newThread(task).start();
        }
    }

    @Override
    public void destroy() {
        closed = true;
        own.shutdown();
    }
}
