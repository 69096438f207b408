package io.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Parks until the deadline: once, unless the thread wakes up for no reason. Without a thread, leaves it to a timer. */
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
        CompletableFuture<Void> timer = new CompletableFuture<Void>()
                .completeOnTimeout(null, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
        // What follows runs elsewhere: the timer's thread is the only one that all timers of the JVM have.
        CompletableFuture<Void> over = timer.thenRunAsync(() -> {});
        var unused = over.whenComplete((done, thrown) -> timer.cancel(false));
        return over;
    }
}
