package io.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** Gives leases back that nobody uses, again and again once there are any; and at the end all. */
final class LeaseSweep {

    /** What was not used for so long, and no more than twice as long, is given back. */
    private static final Duration IDLE = Duration.ofMillis(500);

    private final LeasedBuckets buckets;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final AtomicBoolean begun = new AtomicBoolean();

    LeaseSweep(LeasedBuckets buckets, LongSupplier nanos, ScheduledExecutorService thread) {
        this.buckets = buckets;
        this.nanos = nanos;
        this.thread = thread;
    }

    /** Nothing is done in it any more once all is closed. */
    static ScheduledExecutorService thread() {
        ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(
                1,
                task -> {
                    Thread thread = new Thread(task, "ratelimit-leases");
                    thread.setDaemon(true);
                    return thread;
                },
                new DiscardPolicy());
        threads.setRemoveOnCancelPolicy(true);
        return threads;
    }

    void begin() {
        if (!begun.get() && begun.compareAndSet(false, true)) {
            try {
                var unused = thread.scheduleWithFixedDelay(
                        this::giveBackIdle, IDLE.toNanos(), IDLE.toNanos(), TimeUnit.NANOSECONDS);
            } catch (Throwable ex) {
                // Such as no thread to be had: the next lease tries again.
                begun.set(false);
                throw ex;
            }
        }
    }

    /** Gives back what nobody has taken from since this was called last. */
    void giveBackIdle() {
        buckets.retire(false, nanos.getAsLong()).forEach(Leftover::giveBack);
    }

    /** @param timeout the longest time to wait for the store */
    void giveBackAll(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        List<CompletableFuture<?>> givenBack = new ArrayList<>();
        for (Leftover leftover : buckets.retire(true, nanos.getAsLong())) {
            if (System.nanoTime() < end) {
                givenBack.add(leftover.giveBack().toCompletableFuture());
            }
        }
        CompletableFuture.allOf(givenBack.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)
                .join();
    }
}
