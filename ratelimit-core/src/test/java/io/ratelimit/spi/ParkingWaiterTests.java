package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.testing.WaitingThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    @Test
    void withoutAThreadItWaitsNoShorterEither() {
        long start = System.nanoTime();
        CompletableFuture<Void> over = waiter.awaitAsync(SHORT).toCompletableFuture();
        over.join();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    /** That thread is the only one for all timers. */
    @Test
    void whatFollowsDoesNotRunOnTheTimersThread() {
        String timers = new CompletableFuture<Void>()
                .completeOnTimeout(null, 1, TimeUnit.MILLISECONDS)
                .thenApply(over -> Thread.currentThread().getName())
                .join();
        assertThat(waiter.awaitAsync(SHORT)
                        .thenApply(over -> Thread.currentThread().getName())
                        .toCompletableFuture()
                        .join())
                .isNotEqualTo(timers);
    }

    @Test
    void withoutAThreadLongerThanNanosecondsCanSayIsLong() {
        CompletableFuture<Void> over =
                waiter.awaitAsync(Duration.ofSeconds(Long.MAX_VALUE)).toCompletableFuture();
        assertThat(over).isNotDone();
        over.cancel(false);
        assertThat(over).isCancelled();
    }

    /** As for a waiter that an application has made of a lambda. */
    @Test
    void waiterThatKnowsNoTimerHasAThreadOfItsOwnWait() throws InterruptedException {
        List<String> waited = new CopyOnWriteArrayList<>();
        Waiter own = delay -> waited.add(Thread.currentThread().getName() + " " + delay);
        own.awaitAsync(SHORT).toCompletableFuture().join();
        assertThat(waited).containsExactly("rate-limit-wait PT0.05S");
    }

    @Test
    void cancellingInterruptsThatThread() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Waiter own = delay -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException ex) {
                interrupted.countDown();
                throw ex;
            }
        };
        CompletableFuture<Void> over = own.awaitAsync(SHORT).toCompletableFuture();
        begun.await();
        over.cancel(false);
        assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatThatThreadFailsWithIsTheStages() {
        Waiter own = delay -> {
            throw new IllegalStateException("a defect");
        };
        assertThat(catchThrowable(
                        () -> own.awaitAsync(SHORT).toCompletableFuture().join()))
                .hasMessageContaining("a defect");
    }
}
