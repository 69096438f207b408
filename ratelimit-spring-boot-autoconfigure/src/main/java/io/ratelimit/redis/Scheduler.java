package io.ratelimit.redis;

import io.ratelimit.concurrent.ServiceThread;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs short tasks after a delay. */
interface Scheduler {

    /** A thread of our own, so that nobody else's tasks are in its way. It is there while it has something to do. */
    Scheduler TIMER = thread();

    /** Runs the task after that time. What it returns, if anything, cancels the task. */
    @Nullable
    Future<?> schedule(Runnable task, long nanos);

    private static Scheduler thread() {
        ScheduledThreadPoolExecutor timer =
                new ScheduledThreadPoolExecutor(1, task -> new ServiceThread(task, "ratelimit-timer"));
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
        return (task, nanos) -> timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }
}
