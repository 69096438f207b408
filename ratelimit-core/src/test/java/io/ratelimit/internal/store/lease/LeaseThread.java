package io.ratelimit.internal.store.lease;

import io.ratelimit.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread that does what is due by the test's clock, when it is told to, and nothing again and again. */
public final class LeaseThread extends ScheduledThreadPoolExecutor {

    private final TestClock clock;

    private final List<Task> tasks = new ArrayList<>();

    private record Task(long due, Callable<?> work, ScheduledFuture<?> future) {}

    public LeaseThread(TestClock clock) {
        super(0);
        this.clock = clock;
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> work, long delay, TimeUnit unit) {
        ScheduledFuture<V> future = super.schedule(work, 1, TimeUnit.DAYS);
        tasks.add(new Task(clock.micros() + unit.toMicros(delay), work, future));
        return future;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        return schedule(Executors.callable(work), delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable work, long first, long delay, TimeUnit unit) {
        return super.schedule(Executors.callable(work), 1, TimeUnit.DAYS);
    }

    public void turn() throws Exception {
        for (Task task : tasks) {
            if (task.due <= clock.micros() && !task.future.isDone()) {
                task.work.call();
            }
        }
    }

    /** How much it has yet to do. */
    public long pending() {
        return tasks.stream().filter(task -> !task.future.isDone()).count();
    }
}
