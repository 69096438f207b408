package io.ratelimit.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that nobody waits for too long, with a single timer: most batches are over long before it goes off. Then it is
 * set anew, to the batch that is under way. None that comes later has to be over earlier.
 */
final class Watch {

    private final LongFunction<Executor> timer;

    private final AtomicBoolean set = new AtomicBoolean();

    private volatile @Nullable Batch batch;

    Watch() {
        this(nanos -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run));
    }

    /** @param timer executes after so many nanoseconds */
    Watch(LongFunction<Executor> timer) {
        this.timer = timer;
    }

    /** Watches this one from now on; the one before is over. */
    void start(Batch next) {
        batch = next;
        set(next);
    }

    private void set(Batch watched) {
        if (set.compareAndSet(false, true)) {
            timer.apply(Math.max(0, watched.nanosLeft())).execute(this::look);
        }
    }

    private void look() {
        set.set(false);
        Batch watched = batch;
        if (watched != null && !watched.isOver()) {
            watched.expire();
            if (!watched.isOver()) {
                set(watched);
            }
        }
    }
}
