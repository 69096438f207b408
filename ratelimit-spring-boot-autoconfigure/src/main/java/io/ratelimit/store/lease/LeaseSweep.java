package io.ratelimit.store.lease;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.ServiceThread;
import io.ratelimit.store.Lease;
import io.ratelimit.store.RateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Refunds leases that nobody uses, again and again once there are any; and at the end all. Many go in one request, one
 * request after the other, and no more than the store can afford beside decisions: a lease that has to wait stays usable.
 */
final class LeaseSweep {

    private static final System.Logger logger = System.getLogger(LeaseSweep.class.getName());

    /** What was not used for so long, and no more than twice as long, is refunded. */
    private static final Duration IDLE = Duration.ofMillis(500);

    /** Between two requests. */
    private static final long PAUSE = Duration.ofMillis(10).toNanos();

    /** A request that takes longer is waited for no more. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private static final int MOST_WAITING = 10_000;

    private final LeasedBuckets buckets;

    private final RateLimitStore store;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final AtomicBoolean begun = new AtomicBoolean();

    private final AtomicBoolean warned = new AtomicBoolean();

    /** What is unused of leases that others have taken the place of. Those beyond come back by themselves. */
    private final BlockingQueue<Lease> replaced = new ArrayBlockingQueue<>(MOST_WAITING);

    LeaseSweep(LeasedBuckets buckets, RateLimitStore store, LongSupplier nanos, ScheduledExecutorService thread) {
        this.buckets = buckets;
        this.store = store;
        this.nanos = nanos;
        this.thread = thread;
    }

    /** One for the sweep, which waits for the store, and one for timers. Nothing is done in them once all is closed. */
    static ScheduledExecutorService thread() {
        ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(
                2, task -> new ServiceThread(task, "ratelimit-leases"), new DiscardPolicy());
        threads.setRemoveOnCancelPolicy(true);
        return threads;
    }

    /** Never throws: without a sweep leases end later, and calls are decided all the same. */
    void begin() {
        if (!begun.get() && begun.compareAndSet(false, true)) {
            try {
                var unused = thread.scheduleWithFixedDelay(
                        this::sweep, IDLE.toNanos(), IDLE.toNanos(), TimeUnit.NANOSECONDS);
            } catch (Throwable ex) {
                // Such as no thread to be had: the next lease tries again.
                begun.set(false);
                warn(ex);
            }
        }
    }

    /** Whatever is thrown, the next time is another try. */
    private void sweep() {
        try {
            refundIdle();
        } catch (Throwable ex) {
            warn(ex);
        }
    }

    private void warn(Throwable failure) {
        if (warned.compareAndSet(false, true)) {
            logger.log(
                    Level.WARNING,
                    "Refunding idle leases failed; trying again, further failures are not logged",
                    failure);
        }
    }

    /** Refunds with the next request. */
    void refundLater(Lease remainder) {
        var unused = replaced.offer(remainder);
    }

    /** Refunds what nobody has taken from since this was called last. */
    void refundIdle() {
        Iterator<LeasedBuckets.Entry> idle = buckets.idle().iterator();
        List<Lease> remainders = next(idle);
        while (!remainders.isEmpty() && isDone(store.refundLeases(remainders), LONGEST)) {
            if (idle.hasNext()) {
                LockSupport.parkNanos(PAUSE);
            }
            remainders = next(idle);
        }
    }

    /** As many as the store can afford. Of those that have nothing left there may be any number. */
    private List<Lease> next(Iterator<LeasedBuckets.Entry> idle) {
        int most = store.affordableRefunds();
        List<Lease> remainders = new ArrayList<>();
        replaced.drainTo(remainders, most);
        while (idle.hasNext() && (most == 0 || remainders.size() < most)) {
            Lease remainder = buckets.retireIfIdle(idle.next(), most == 0 ? 0 : Long.MAX_VALUE, nanos.getAsLong());
            if (!remainder.isEmpty()) {
                remainders.add(remainder);
            }
        }
        return remainders;
    }

    /** @param timeout the longest time to wait for the store */
    void refundAll(Duration timeout) {
        List<Lease> remainders = new ArrayList<>(buckets.retireAll(nanos.getAsLong()));
        replaced.drainTo(remainders);
        if (!remainders.isEmpty()) {
            var unused = isDone(store.refundLeases(remainders), timeout);
        }
    }

    private static boolean isDone(CompletionStage<Void> refund, Duration timeout) {
        try {
            BoundedWait.get(refund, timeout);
            return true;
        } catch (RateLimitStoreException ex) {
            return false;
        }
    }
}
