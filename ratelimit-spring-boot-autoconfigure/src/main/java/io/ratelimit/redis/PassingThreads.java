package io.ratelimit.redis;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads that come with the work and go when there is none. They keep no JVM from its end. */
final class PassingThreads {

    private static final int IDLE_SECONDS = 10;

    private PassingThreads() {}

    /**
     * @param most how many there are at the most
     * @param waiting how many tasks may wait for one; those beyond are refused
     */
    static Executor create(String name, int most, int waiting) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(waiting), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }
}
