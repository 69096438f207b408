package io.ratelimit;

import java.time.Duration;

/**
 * Lets the current thread wait for permits that are reserved for it. A bean of this type replaces the default,
 * {@link #parking()}: a test that must not take its time can move its clock instead.
 */
@FunctionalInterface
public interface Waiter {

    /**
     * Returns when the time is over, not before.
     *
     * @param delay more than zero, to the microsecond
     * @throws InterruptedException if the thread is interrupted while it waits, or was so before
     */
    void await(Duration delay) throws InterruptedException;

    /** Parks the thread by the real clock. Holds no lock, so that a virtual thread lets go of its carrier. */
    static Waiter parking() {
        return new ParkingWaiter();
    }
}
