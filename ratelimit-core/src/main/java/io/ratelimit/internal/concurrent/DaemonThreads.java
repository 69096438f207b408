package io.ratelimit.internal.concurrent;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Creates daemon threads that exist only while there is work. */
public final class DaemonThreads {

    static final int IDLE_SECONDS = 10;

    private DaemonThreads() {}

    /**
     * Creates threads on which code of applications may run.
     *
     * @param most the largest number of threads
     * @param waiting the largest number of tasks that wait for a thread; further tasks are rejected
     */
    public static Executor create(String name, int most, int waiting) {
        return create(most, waiting, daemons(name));
    }

    /** Creates as many threads as tasks are under way, for code of applications whose tasks may wait for each other. */
    public static Executor createUnbounded(String name) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), daemons(name));
    }

    /**
     * Returns a factory of threads that inherit nothing of the first caller that needs one, because others follow: no
     * thread-locals, and the class loader of the thread that creates the factory.
     */
    public static ThreadFactory daemons(String name) {
        ClassLoader creators = Thread.currentThread().getContextClassLoader();
        return task -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setContextClassLoader(creators);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** As {@link #daemons}, of service threads. */
    public static ThreadFactory services(String name) {
        ClassLoader creators = Thread.currentThread().getContextClassLoader();
        return task -> new ServiceThread(task, name, creators);
    }

    /**
     * Creates threads as {@link #create} does, but only if none is idle: for many short tasks that rarely need many threads at
     * once. If code of applications blocks them all, further threads help: what waits may be what the blocked ones wait for, such
     * as the release of a permit.
     */
    public static Executor createOnDemand(String name, int most) {
        return new OnDemandThreads(name, most, daemons(name), Watchdog.shared());
    }

    /** Runs a task on one of the threads, or on this one if none can be created. */
    public static void runApart(Executor threads, Runnable task) {
        try {
            threads.execute(task);
        } catch (Throwable ex) {
            task.run();
        }
    }

    /** Creates {@linkplain ServiceThread service threads}, otherwise as {@link #create}. */
    public static Executor createService(String name, int most, int waiting) {
        return create(most, waiting, services(name));
    }

    private static Executor create(int most, int waiting, ThreadFactory threads) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(waiting), threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** As {@link #createServiceScheduler}, for all applications of the JVM. */
    public static ScheduledExecutorService createSchedulerOfTheJvm(String name) {
        return createScheduler(task -> new ServiceThread(task, name, null));
    }

    /** Creates a scheduler with one service thread. Its shutdown discards the tasks that are not due yet. */
    public static ScheduledExecutorService createServiceScheduler(String name) {
        return createScheduler(services(name));
    }

    /** As {@link #createServiceScheduler}, with a thread that may run code of the application, such as a driver's. */
    public static ScheduledExecutorService createScheduler(String name) {
        return createScheduler(daemons(name));
    }

    static ScheduledExecutorService createScheduler(ThreadFactory threads) {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, threads);
        scheduler.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        scheduler.allowCoreThreadTimeOut(true);
        scheduler.setRemoveOnCancelPolicy(true);
        scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return scheduler;
    }
}
