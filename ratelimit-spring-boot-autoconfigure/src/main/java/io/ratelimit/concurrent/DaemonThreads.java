package io.ratelimit.concurrent;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads that come with the work and go when there is none. They keep no JVM from its end. */
public final class DaemonThreads {

    private static final int IDLE_SECONDS = 10;

    private DaemonThreads() {}

    /**
     * Makes threads of that name.
     *
     * @param most how many there are at the most
     * @param waiting how many tasks may wait for one; those beyond are refused
     */
    public static Executor create(String name, int most, int waiting) {
        return create(most, waiting, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * As {@link #create(String, int, int)}, of a kind of the caller's.
     *
     * @param threads makes daemons
     */
    public static Executor create(int most, int waiting, ThreadFactory threads) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(waiting), threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
