package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs what is planned when the test says so. */
final class ManualScheduler extends ScheduledThreadPoolExecutor {

    private final List<Planned> tasks = new ArrayList<>();

    private boolean failing;

    ManualScheduler() {
        super(0);
    }

    List<?> planned() {
        tasks.removeIf(FutureTask::isDone);
        return tasks;
    }

    /** Runs the only task that is planned. */
    void runPlanned(long millis) {
        assertThat(planned()).hasSize(1);
        Planned next = tasks.remove(0);
        assertThat(next.millis).isEqualTo(millis);
        next.run();
    }

    /** The next task is queued, but there is no thread for it: as a thread pool does it. */
    void failToStart() {
        failing = true;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        if (isShutdown()) {
            throw new RejectedExecutionException();
        }
        Planned planned = new Planned(work, unit.toMillis(delay));
        if (failing) {
            failing = false;
            throw new OutOfMemoryError("unable to create native thread");
        }
        tasks.add(planned);
        return planned;
    }

    private static final class Planned extends FutureTask<Void> implements ScheduledFuture<Void> {

        private final long millis;

        Planned(Runnable work, long millis) {
            super(work, null);
            this.millis = millis;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(millis, TimeUnit.MILLISECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            throw new UnsupportedOperationException();
        }
    }
}
