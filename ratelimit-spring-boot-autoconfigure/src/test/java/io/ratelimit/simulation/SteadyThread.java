package io.ratelimit.simulation;

import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The pause between two readings of the overrides is drawn, here it is not: the same seed is the same history. */
final class SteadyThread extends ScheduledThreadPoolExecutor {

    private static final long LEAST = 850;

    private static final long MOST = 950;

    private final ScheduledThreadPoolExecutor thread;

    SteadyThread(SimulatedTime time) {
        super(0);
        thread = time.thread();
    }

    @Override
    public void execute(Runnable work) {
        thread.execute(work);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        long millis = unit.toMillis(delay);
        return millis >= LEAST && millis < MOST
                ? thread.schedule(work, MOST, TimeUnit.MILLISECONDS)
                : thread.schedule(work, delay, unit);
    }

    @Override
    public List<Runnable> shutdownNow() {
        return thread.shutdownNow();
    }
}
