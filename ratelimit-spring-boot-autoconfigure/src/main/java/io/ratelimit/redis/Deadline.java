package io.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * The moment by which a decision has to be there, and the last one, a timeout later. Time in which this JVM stands still
 * moves the first, but never beyond the last.
 */
final class Deadline implements TimeLimit {

    private final LongSupplier awake;

    private final LongSupplier clock;

    private final long end;

    private final long last;

    private Deadline(long time, LongSupplier awake, LongSupplier clock) {
        this.awake = awake;
        this.clock = clock;
        this.end = awake.getAsLong() + time;
        this.last = clock.getAsLong() + 2 * time;
    }

    static Deadline in(Duration time) {
        return in(time, System::nanoTime);
    }

    /** @param clock a monotonic one, in nanoseconds */
    static Deadline in(Duration time, LongSupplier clock) {
        return new Deadline(time.toNanos(), clock, clock);
    }

    static Deadline in(Duration time, AwakeClock clock) {
        return new Deadline(time.toNanos(), clock, clock::nanos);
    }

    long nanosLeft() {
        return Math.min(end - awake.getAsLong(), nanosLeftAtLast());
    }

    /** Until the last moment. */
    long nanosLeftAtLast() {
        return last - clock.getAsLong();
    }

    boolean isOver() {
        return nanosLeft() <= 0;
    }

    @Override
    public <T> CompletableFuture<T> bound(CompletableFuture<T> work) {
        if (work.isDone()) {
            return work;
        }
        CompletableFuture<T> bounded = work.copy();
        Future<?> timer = Scheduler.TIMER.schedule(
                () -> bounded.completeExceptionally(new TimeoutException()), Math.max(0, nanosLeft()));
        var unused = bounded.whenComplete((answer, thrown) -> {
            if (timer != null) {
                timer.cancel(false);
            }
            if (thrown != null) {
                work.cancel(false);
            }
        });
        return bounded;
    }
}
