package io.ratelimit.internal.concurrent;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** Waits for a future on the calling thread, with a timeout. No other class of the starter waits for a future. */
public final class BoundedWait {

    /** Takes as long as waking up a parked thread, at most. */
    private static final int YIELDS = 16;

    private BoundedWait() {}

    /**
     * Lets other threads run for a moment, unless the work is done. To be called before waiting for work that is almost done, such
     * as for a request under way: parking and waking up many threads takes longer than most of them have to wait.
     */
    @SuppressWarnings("ThreadPriorityCheck") // A hint: whatever the scheduler does, the wait that follows is bounded.
    public static void yieldFor(CompletableFuture<?> work) {
        for (int i = 0; i < YIELDS && !work.isDone(); i++) {
            Thread.yield();
        }
    }

    /**
     * Waits until the work is done or no time is left. An interrupt does not end it; the thread stays interrupted.
     *
     * @param nanosLeft read again when the time is over, because it may have grown
     */
    public static void await(CompletableFuture<?> work, LongSupplier nanosLeft) {
        boolean interrupted = false;
        while (!work.isDone()) {
            long left = nanosLeft.getAsLong();
            if (left <= 0) {
                break;
            }
            try {
                get(work, left);
            } catch (InterruptedException ex) {
                interrupted = true;
            } catch (ExecutionException | CancellationException | TimeoutException ex) {
                // Done, or the time left says so.
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the work is done or the time is over, otherwise as {@link #await(CompletableFuture, LongSupplier)}. */
    public static void await(CompletableFuture<?> work, Duration most) {
        long end = System.nanoTime() + most.toNanos();
        await(work, () -> end - System.nanoTime());
    }

    /**
     * In a fork-join pool, the future itself would run other tasks of the thread until it is done: the wait would take as long as
     * they do, and if they wait as well, the stack would overflow.
     */
    private static void get(CompletableFuture<?> work, long nanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (Thread.currentThread() instanceof ForkJoinWorkerThread) {
            ForkJoinPool.managedBlock(new Blocker(work, nanos));
        } else {
            work.get(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Waits until the work is done or the time is over. An interrupt ends it. */
    public static void awaitInterruptibly(CompletableFuture<?> work, Duration most) throws InterruptedException {
        try {
            get(work, most.toNanos());
        } catch (ExecutionException | CancellationException | TimeoutException ex) {
            // Done, or it will not be in time.
        }
    }

    /**
     * Waits for the work and returns its result.
     *
     * @param most how long it is waited for
     * @throws RateLimitStoreException with {@link Reason#TIMEOUT} if it is not done by then
     */
    public static <T> T get(CompletionStage<T> work, Duration most) {
        CompletableFuture<T> future = work.toCompletableFuture();
        await(future, most);
        return result(future);
    }

    /**
     * Returns the result of the work, without waiting.
     *
     * @throws RateLimitStoreException with {@link Reason#TIMEOUT} if it is not done
     */
    public static <T> T result(CompletableFuture<T> work) {
        if (!work.isDone()) {
            throw new RateLimitStoreException(Reason.TIMEOUT, "No answer in time", null);
        }
        try {
            return work.join();
        } catch (CompletionException ex) {
            throw Futures.unwrap(ex) instanceof RuntimeException failure ? failure : ex;
        }
    }

    /** Lets the pool use another thread meanwhile. */
    private static final class Blocker implements ForkJoinPool.ManagedBlocker {

        private final CountDownLatch done = new CountDownLatch(1);

        private final long end;

        Blocker(CompletableFuture<?> work, long nanos) {
            this.end = System.nanoTime() + nanos;
            var unused = work.whenComplete((value, thrown) -> done.countDown());
        }

        @Override
        public boolean block() throws InterruptedException {
            var unused = done.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            return true;
        }

        @Override
        public boolean isReleasable() {
            return done.getCount() == 0;
        }
    }
}
