package io.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Waits for permits that are reserved for a call. A bean of this type replaces the default, {@link #parking()}: a test
 * that must not take its time can move its clock instead.
 */
@FunctionalInterface
public interface Waiter {

    /**
     * Lets the current thread wait: returns when the time is over, not before.
     *
     * @param delay more than zero, to the microsecond
     * @throws InterruptedException if the thread is interrupted while it waits, or was so before
     */
    void await(Duration delay) throws InterruptedException;

    /**
     * The same for a call that has no thread to wait with. By default another thread waits, one for each call; whoever
     * waits by a real clock should need none.
     *
     * @param delay more than zero, to the microsecond
     * @return done when the time is over, not before; cancelling it, as a {@code CompletableFuture}, ends the wait
     */
    default CompletionStage<Void> awaitAsync(Duration delay) {
        return new WaitingThread(this, delay).begin();
    }

    /**
     * Waits by the real clock. Parks the thread without holding a lock, so that a virtual thread lets go of its carrier;
     * without a thread, it is a timer that waits.
     */
    static Waiter parking() {
        return new ParkingWaiter();
    }
}
