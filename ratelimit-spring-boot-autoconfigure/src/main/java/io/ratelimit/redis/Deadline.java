package io.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The moment by which a decision has to be there. */
final class Deadline implements Bound {

    private final LongSupplier clock;

    private final long nanos;

    private Deadline(LongSupplier clock, long nanos) {
        this.clock = clock;
        this.nanos = nanos;
    }

    static Deadline in(Duration time) {
        return in(time, System::nanoTime);
    }

    /** @param clock a monotonic one, in nanoseconds */
    static Deadline in(Duration time, LongSupplier clock) {
        return new Deadline(clock, clock.getAsLong() + time.toNanos());
    }

    long nanosLeft() {
        return nanos - clock.getAsLong();
    }

    boolean isOver() {
        return nanosLeft() <= 0;
    }

    @Override
    public <T> CompletableFuture<T> bound(CompletableFuture<T> work) {
        if (work.isDone()) {
            return work;
        }
        CompletableFuture<T> bounded = work.copy().orTimeout(Math.max(0, nanosLeft()), TimeUnit.NANOSECONDS);
        var unused = bounded.exceptionally(thrown -> {
            work.cancel(false);
            return null;
        });
        return bounded;
    }
}
