package io.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Waits on behalf of a call that has no thread to wait with. */
final class WaitingThread {

    private final CompletableFuture<Void> over = new CompletableFuture<>();

    private final Thread thread;

    WaitingThread(Waiter waiter, Duration delay) {
        this.thread = new Thread(() -> wait(waiter, delay), "rate-limit-wait");
        thread.setDaemon(true);
    }

    /** Returns a stage that is done when the time is over; cancelling it interrupts the thread. */
    CompletableFuture<Void> begin() {
        var unused = over.whenComplete((done, thrown) -> {
            if (over.isCancelled()) {
                thread.interrupt();
            }
        });
        thread.start();
        return over;
    }

    private void wait(Waiter waiter, Duration delay) {
        try {
            waiter.await(delay);
            over.complete(null);
        } catch (InterruptedException | RuntimeException ex) {
            over.completeExceptionally(ex);
        }
    }
}
