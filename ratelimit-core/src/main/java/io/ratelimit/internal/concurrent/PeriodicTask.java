package io.ratelimit.internal.concurrent;

import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Repeats work on a thread: one run at a time, and the next one after a pause, whatever the work throws. */
public final class PeriodicTask implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final ScheduledExecutorService thread;

    private final Runnable work;

    private final LongSupplier pauseMillis;

    private Future<?> next = CompletableFuture.completedFuture(null);

    private volatile boolean running;

    /** @param pauseMillis returns the time until the next run; {@link Long#MAX_VALUE}: none is planned */
    public PeriodicTask(ScheduledExecutorService thread, Runnable work, LongSupplier pauseMillis) {
        this.thread = thread;
        this.work = work;
        this.pauseMillis = pauseMillis;
    }

    /** Begins, with a pause, or begins again. */
    public void start() {
        running = true;
        plan();
    }

    /** Ends, after the run that may be under way. */
    public void stop() {
        running = false;
    }

    public boolean isRunning() {
        return running;
    }

    /** Plans the next run anew, because the pause is another one. */
    public synchronized void plan() {
        long millis = pauseMillis.getAsLong();
        next.cancel(false);
        if (running && millis < Long.MAX_VALUE) {
            try {
                next = thread.schedule(this::run, millis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException ex) {
                // Closed.
            }
        }
    }

    private void run() {
        try {
            if (running) {
                work.run();
            }
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "Work of rate limits in the background failed; trying again", ex);
        } finally {
            plan();
        }
    }

    @Override
    public void close() {
        stop();
        thread.shutdownNow();
    }
}
