package io.ratelimit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs what comes after a decision that took its time: on an executor of the application, if it has one for this, else on
 * threads of its own, of which it makes as many as are needed and keeps them for a minute. Is no {@link Executor}, because
 * Spring Boot would take such a bean for the application's.
 */
final class CallExecutor implements DisposableBean {

    /** The name of the application's. */
    static final String BEAN_NAME = "rateLimitExecutor";

    private final ThreadPoolTaskExecutor own = new ThreadPoolTaskExecutor();

    private final SingletonSupplier<Executor> executor;

    private volatile boolean closed;

    CallExecutor(ObjectProvider<Executor> applications) {
        own.setThreadNamePrefix("ratelimit-");
        own.setCorePoolSize(0);
        own.setQueueCapacity(0);
        own.setDaemon(true);
        this.executor = SingletonSupplier.of(() -> applications.getIfAvailable(this::ownExecutor));
    }

    private Executor ownExecutor() {
        own.initialize();
        return own;
    }

    /** What still comes when all is being closed has a thread for itself. */
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
