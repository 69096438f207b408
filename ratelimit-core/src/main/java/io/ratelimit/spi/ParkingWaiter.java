package io.ratelimit.spi;

import io.ratelimit.internal.concurrent.Timeouts;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits by the real clock: parks the thread, or uses a timer if there is no thread to block. */
final class ParkingWaiter implements Waiter {

    @Override
    public void await(Duration delay) throws InterruptedException {
        long start = System.nanoTime();
        long nanos = TimeUnit.NANOSECONDS.convert(delay);
        for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - start)) {
            LockSupport.parkNanos(this, left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    public CompletionStage<Void> awaitAsync(Duration delay) {
        CompletableFuture<Void> timer = Timeouts.complete(new CompletableFuture<>(), null, delay);
        // Continuations run on another thread, because all timers share one.
        CompletableFuture<Void> over = timer.thenRunAsync(() -> {});
        var unused = over.whenComplete((done, thrown) -> timer.cancel(false));
        return over;
    }
}
