package io.ratelimit.internal.concurrent;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Creates a thread only if none is idle, and one a second beyond the largest number while the others make no progress. */
final class OnDemandThreads implements Executor {

    private final String name;

    private final int most;

    private final ThreadFactory threads;

    private final Watchdog watchdog;

    private final AtomicBoolean watched = new AtomicBoolean();

    private final IdleThreads waiting = new IdleThreads();

    private final ThreadPoolExecutor pool;

    /** The first task that waited at the last check. Accessed by the watchdog only. */
    private @Nullable Runnable first;

    /** Since a task has waited from one check to the next, until none waits. Accessed by the watchdog only. */
    private boolean blocked;

    OnDemandThreads(String name, int most, ThreadFactory threads, Watchdog watchdog) {
        this.name = name;
        this.most = most;
        this.threads = threads;
        this.watchdog = watchdog;
        this.pool = new ThreadPoolExecutor(
                0, most, DaemonThreads.IDLE_SECONDS, TimeUnit.SECONDS, waiting, threads, this::append);
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    private void append(Runnable task, ThreadPoolExecutor full) {
        waiting.append(task, full);
        if (watched.compareAndSet(false, true)) {
            watchdog.watch(this, OnDemandThreads::help);
        }
    }

    private @Nullable String help() {
        Runnable now = waiting.peek();
        boolean still = now != null && now == first;
        first = now;
        blocked = now != null && (blocked || still);
        if (still) {
            threads.newThread(this::runWaiting).start();
        }
        return blocked
                ? "What the application does after asynchronous calls keeps all " + most + " threads '" + name
                        + "' busy, and more waits; starting a thread a second for it. Do not block there, as with join() or"
                        + " get(): use thenCompose, or handleAsync with an executor of your own"
                : null;
    }

    private void runWaiting() {
        Runnable task = waiting.poll();
        while (task != null) {
            task.run();
            task = waiting.poll();
        }
    }

    /** Accepts a task only if an idle thread takes it, so that the pool creates threads while it may, and appends the others. */
    private static final class IdleThreads extends LinkedTransferQueue<Runnable> {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean offer(Runnable task) {
            return tryTransfer(task);
        }

        /** All threads are busy. One of them takes the task when it is done. */
        void append(Runnable task, ThreadPoolExecutor pool) {
            super.offer(task);
            if (pool.getPoolSize() == 0 && remove(task)) {
                // All have ended meanwhile.
                pool.execute(task);
            }
        }
    }
}
