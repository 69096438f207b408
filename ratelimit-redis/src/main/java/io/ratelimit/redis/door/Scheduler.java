package io.ratelimit.redis.door;

import io.ratelimit.internal.concurrent.DaemonThreads;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs short tasks after a delay. */
public interface Scheduler {

    /** The library's own thread, so that no other tasks delay it. */
    Scheduler TIMER = on(DaemonThreads.createSchedulerOfTheJvm("ratelimit-timer"));

    /** Runs the task after that time. The result, if any, cancels the task. */
    @Nullable
    Future<?> schedule(Runnable task, long nanos);

    private static Scheduler on(ScheduledExecutorService thread) {
        return (task, nanos) -> thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }
}
