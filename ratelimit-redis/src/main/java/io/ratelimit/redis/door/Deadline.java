package io.ratelimit.redis.door;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;

/**
 * Bounds the time of a decision: by the time at which it ends, and by a latest time, one timeout later. The first moves while this JVM is
 * stalled, but never beyond the second.
 */
public final class Deadline {

    private final AwakeClock clock;

    private final long end;

    private final long last;

    private Deadline(long time, AwakeClock clock) {
        this.clock = clock;
        this.end = clock.getAsLong() + time;
        this.last = clock.nanos() + 2 * time;
    }

    static Deadline in(Duration time, AwakeClock clock) {
        return new Deadline(time.toNanos(), clock);
    }

    public long nanosLeft() {
        return Math.min(end - clock.getAsLong(), nanosLeftAtLast());
    }

    /** Returns the time until the latest time. */
    public long nanosLeftAtLast() {
        return last - clock.nanos();
    }

    boolean isOver() {
        return nanosLeft() <= 0;
    }

    /** Returns the same work, which fails with a {@link TimeoutException} and is cancelled when the time is over. */
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
