package io.ratelimit.internal.concurrent;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Ends futures when their time is over, on a thread that exists only while a future has one. That of {@link CompletableFuture} never
 * ends, and keeps the classes of the application that has needed it first, also after that is undeployed.
 */
public final class Timeouts {

    private static final ScheduledExecutorService TIMER = DaemonThreads.createSchedulerOfTheJvm("ratelimit-timeouts");

    private Timeouts() {}

    /** Fails the work with a {@link TimeoutException} after that time, and returns it. */
    public static <T> CompletableFuture<T> fail(CompletableFuture<T> work, Duration time) {
        return after(time, work, () -> work.completeExceptionally(new TimeoutException()));
    }

    /** Completes the work with the value after that time, and returns it. */
    public static <T> CompletableFuture<T> complete(CompletableFuture<T> work, @Nullable T value, Duration time) {
        return after(time, work, () -> work.complete(value));
    }

    private static <T> CompletableFuture<T> after(Duration time, CompletableFuture<T> work, Runnable end) {
        if (!work.isDone()) {
            Future<?> timer = TIMER.schedule(end, TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
            var unused = work.whenComplete((done, thrown) -> timer.cancel(false));
        }
        return work;
    }
}
