package io.ratelimit;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Daemon threads for what follows a call that is late; they come with the work and end when there is none. */
final class LateThreads {

    private static final int MOST = 4;

    private static final int IDLE_SECONDS = 10;

    private LateThreads() {}

    static Executor create(String name) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                MOST, MOST, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }
}
