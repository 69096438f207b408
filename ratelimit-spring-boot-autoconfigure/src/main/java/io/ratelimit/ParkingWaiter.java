package io.ratelimit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Parks until the deadline: once, unless the thread wakes up for no reason. */
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
}
