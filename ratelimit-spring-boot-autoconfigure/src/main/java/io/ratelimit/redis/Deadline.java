package io.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The moment by which a decision has to be there. */
final class Deadline implements Bound {

    private final long nanos;

    private Deadline(long nanos) {
        this.nanos = nanos;
    }

    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    long nanosLeft() {
        return nanos - System.nanoTime();
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
