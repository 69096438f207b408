package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class ParkingWaiterTests {

    private static final Duration SHORT = Duration.ofMillis(50);

    private final Waiter waiter = Waiter.parking();

    @Test
    void waitsNoShorterThanItShould() throws InterruptedException {
        long start = System.nanoTime();
        waiter.await(SHORT);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    @Test
    void wakingUpForNoReasonIsNotTheEnd() throws InterruptedException {
        long start = System.nanoTime();
        LockSupport.unpark(Thread.currentThread());
        waiter.await(SHORT);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    @Test
    void doesNotBeginToWaitWhenInterruptedBefore() {
        Thread.currentThread().interrupt();
        assertThat(catchThrowable(() -> waiter.await(WaitingThreads.FOREVER))).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void longerThanNanosecondsCanSayIsLong() {
        WaitingThreads threads = new WaitingThreads();
        threads.start(() -> {
            try {
                waiter.await(Duration.ofSeconds(Long.MAX_VALUE));
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        });
        threads.awaitParked();
        assertThat(threads.interrupt())
                .singleElement()
                .satisfies(end -> assertThat(end.thrown()).hasCauseInstanceOf(InterruptedException.class));
    }
}
