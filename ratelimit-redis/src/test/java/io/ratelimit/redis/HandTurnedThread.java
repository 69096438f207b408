package io.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A thread with a clock. Both stand still, but for the time that the test lets pass. */
public class HandTurnedThread extends ScheduledThreadPoolExecutor {

    private final List<Task> tasks = new ArrayList<>();

    private long nanos;

    private boolean failing;

    private @Nullable Runnable overtaking;

    private record Task(long due, Runnable work) {}

    public HandTurnedThread() {
        super(0);
    }

    public long nanos() {
        return nanos;
    }

    /** Does what there is to do now. */
    public void turn() {
        pass(Duration.ZERO);
    }

    /** Does what there is to do in that time, when it is due. */
    public void pass(Duration time) {
        long end = nanos + time.toNanos();
        while (true) {
            Task next = tasks.stream()
                    .filter(task -> task.due <= end)
                    .min(Comparator.comparingLong(Task::due))
                    .orElse(null);
            if (next == null) {
                break;
            }
            tasks.remove(next);
            nanos = Math.max(nanos, next.due);
            next.work.run();
        }
        nanos = Math.max(nanos, end);
    }

    /** The next task is queued, but there is no thread for it: as a thread pool does it. */
    public void failToStart() {
        failing = true;
    }

    /** The thread that schedules the next task is stalled until the task is done. This happens just before. */
    public void overtake(Runnable before) {
        overtaking = before;
    }

    /** Lets time pass in which nothing is done. */
    public void stall(Duration time) {
        nanos += time.toNanos();
    }

    /** What is queued is lost. */
    public void forget() {
        tasks.clear();
    }

    /** How many tasks wait. */
    public int tasks() {
        return tasks.size();
    }

    public boolean isIdle() {
        return tasks.isEmpty();
    }

    @Override
    public void execute(Runnable work) {
        add(new Task(nanos, work));
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        Task task = new Task(nanos + unit.toNanos(delay), work);
        add(task);
        return new Scheduled(task);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable work, long delay, long period, TimeUnit unit) {
        return schedule(
                () -> {
                    work.run();
                    var unused = scheduleWithFixedDelay(work, period, period, unit);
                },
                delay,
                unit);
    }

    private void add(Task task) {
        if (isShutdown()) {
            throw new RejectedExecutionException();
        }
        tasks.add(task);
        if (overtaking != null) {
            Runnable before = overtaking;
            overtaking = null;
            before.run();
            pass(Duration.ofNanos(task.due - nanos));
        }
        if (failing) {
            failing = false;
            throw new OutOfMemoryError("unable to create native thread");
        }
    }

    /** A task that can be cancelled, as long as it waits. */
    private final class Scheduled extends CompletableFuture<Void> implements ScheduledFuture<Void> {

        private final Task task;

        Scheduled(Task task) {
            this.task = task;
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            return tasks.remove(task);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(task.due - nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
