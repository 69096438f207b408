package io.ratelimit.redis;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs short tasks after a delay. */
interface Scheduler {

    int IDLE_SECONDS = 10;

    void schedule(Runnable task, long nanos);

    /** A thread of our own, so that nobody else's tasks are in its way. It is there while it has something to do. */
    static Scheduler thread() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "ratelimit-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return (task, nanos) -> {
            var unused = timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
        };
    }
}
