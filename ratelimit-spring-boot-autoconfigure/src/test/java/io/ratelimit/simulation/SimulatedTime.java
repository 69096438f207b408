package io.ratelimit.simulation;

import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The time of a simulation, in which everything happens on one thread, in an order that the seed determines. */
final class SimulatedTime implements Waiter {

    private final PriorityQueue<Task<?>> tasks = new PriorityQueue<>(
            Comparator.<Task<?>>comparingLong(task -> task.due).thenComparing(task -> task.number));

    private long nanos;

    private long planned;

    long nanos() {
        return nanos;
    }

    long micros() {
        return nanos / 1_000;
    }

    /** Lets time pass, and does what is due meanwhile. */
    void pass(Duration time) {
        long end = nanos + time.toNanos();
        for (Task<?> next = tasks.peek(); next != null && next.due <= end; next = tasks.peek()) {
            tasks.remove();
            nanos = Math.max(nanos, next.due);
            next.run();
        }
        nanos = end;
    }

    /** Does what is due now. */
    void settle() {
        pass(Duration.ZERO);
    }

    void after(Duration time, Runnable work) {
        var unused = add(new Task<>(Executors.callable(work), nanos + time.toNanos()));
    }

    private <T> Task<T> add(Task<T> task) {
        tasks.add(task);
        return task;
    }

    @Override
    public void await(Duration delay) {
        throw new IllegalStateException("A simulated call must not block");
    }

    @Override
    public CompletionStage<Void> awaitAsync(Duration delay) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        after(delay, () -> over.complete(null));
        return over;
    }

    /** Returns a thread that does its work in this time, until it is shut down. */
    ScheduledThreadPoolExecutor thread() {
        return new SimulatedThread();
    }

    private final class SimulatedThread extends ScheduledThreadPoolExecutor {

        SimulatedThread() {
            super(0);
        }

        @Override
        public void execute(Runnable work) {
            var unused = schedule(work, 0, TimeUnit.NANOSECONDS);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
            return schedule(Executors.callable(work), delay, unit);
        }

        @Override
        public <T> ScheduledFuture<T> schedule(Callable<T> work, long delay, TimeUnit unit) {
            if (isShutdown()) {
                throw new RejectedExecutionException();
            }
            return add(new Task<>(() -> isShutdown() ? null : work.call(), nanos + Math.max(0, unit.toNanos(delay))));
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable work, long first, long delay, TimeUnit unit) {
            return schedule(
                    () -> {
                        work.run();
                        var unused = scheduleWithFixedDelay(work, delay, delay, unit);
                    },
                    first,
                    unit);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable work, long first, long period, TimeUnit unit) {
            return scheduleWithFixedDelay(work, first, period, unit);
        }
    }

    private final class Task<T> extends FutureTask<T> implements RunnableScheduledFuture<T> {

        private final long due;

        private final long number = planned++;

        Task(Callable<T> work, long due) {
            super(work);
            this.due = due;
        }

        @Override
        protected void setException(Throwable thrown) {
            super.setException(thrown);
            if (thrown instanceof AssertionError error) {
                throw error;
            }
        }

        @Override
        public boolean isPeriodic() {
            return false;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
