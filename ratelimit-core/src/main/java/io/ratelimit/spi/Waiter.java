package io.ratelimit.spi;

import io.ratelimit.internal.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Waits for reserved permits. A bean of this type replaces the default, {@link #parking()}, for example in a test that moves
 * its clock instead of waiting.
 */
@FunctionalInterface
public interface Waiter {

    /**
     * Blocks the current thread for the time.
     *
     * @param delay more than zero, to the microsecond
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     */
    void await(Duration delay) throws InterruptedException;

    /**
     * Waits without blocking the current thread. The default starts a thread for each call, so implement this method if you
     * use it in production.
     *
     * @param delay more than zero, to the microsecond
     * @return a stage that completes after the time; cancelling it, as a {@code CompletableFuture}, ends the wait
     */
    default CompletionStage<Void> awaitAsync(Duration delay) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Thread thread = DaemonThreads.daemons("rate-limit-wait").newThread(() -> {
            try {
                await(delay);
                over.complete(null);
            } catch (Throwable ex) {
                over.completeExceptionally(ex);
            }
        });
        var unused = over.whenComplete((done, thrown) -> {
            if (over.isCancelled()) {
                thread.interrupt();
            }
        });
        thread.start();
        return over;
    }

    /**
     * Returns a waiter that uses the real clock. It parks the thread without holding a lock, so that a virtual thread releases
     * its carrier; {@link #awaitAsync} uses a timer.
     */
    static Waiter parking() {
        return new ParkingWaiter();
    }
}
