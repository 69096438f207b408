package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import io.ratelimit.spi.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Refunds idle leases periodically, and all of them at shutdown. Sends many in one request, one request after the other, and
 * no more than the store can afford besides decisions: a lease that has to wait remains usable.
 */
final class LeaseSweep {

    /** A lease is refunded once it was idle for so long, at the latest after twice that time. */
    private static final Duration IDLE = Duration.ofMillis(500);

    /** Between two requests. */
    private static final long PAUSE = Duration.ofMillis(10).toNanos();

    /** The longest time to wait for a request. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    /** As many as there may be buckets. */
    private static final int MOST_WAITING = 20_000;

    private final LeasedBucketRegistry buckets;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private volatile Lease.Unused anyLease = Lease.NONE.unused();

    private final AtomicBoolean begun = new AtomicBoolean();

    private final FirstFailureLog failures = new FirstFailureLog(
            "io.ratelimit.store", "Refunding idle leases failed; trying again, further failures are not logged");

    /** What is left of leases that have ended. If there are too many, the permits come back over time. */
    private final BlockingQueue<Lease> ended = new LinkedBlockingQueue<>(MOST_WAITING);

    LeaseSweep(LeasedBucketRegistry buckets, LongSupplier nanos, ScheduledExecutorService thread) {
        this.buckets = buckets;
        this.nanos = nanos;
        this.thread = thread;
    }

    /** One for the sweep, which waits for the store, and one for timers. Nothing is done in them once all is closed. */
    static ScheduledExecutorService thread() {
        ScheduledThreadPoolExecutor threads =
                new ScheduledThreadPoolExecutor(2, DaemonThreads.services("ratelimit-leases"), new DiscardPolicy());
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
                // For example, no thread could be created. The next lease tries again.
                begun.set(false);
                failures.log(ex);
            }
        }
    }

    /** Survives every failure: the next round tries again. */
    private void sweep() {
        try {
            refundIdle();
        } catch (Throwable ex) {
            failures.log(ex);
        }
    }

    /** Takes any lease of the store, which knows what the store can afford. */
    void know(@Nullable Lease lease) {
        if (lease != null) {
            anyLease = lease.unused();
        }
    }

    private int affordable() {
        return anyLease.affordable();
    }

    /** Refunds with the next request. */
    void refundLater(Lease remainder) {
        var unused = ended.offer(remainder);
    }

    /** Refunds as many as the store can afford at once, before calls by another rule adopt the count, and then the others. */
    void refund(List<Lease> remainders) {
        if (!remainders.isEmpty()) {
            var unused = Lease.refund(available(remainders, affordable()));
        }
    }

    /** Returns those that can be refunded now, and keeps the others for later. */
    private List<Lease> available(List<Lease> remainders, int most) {
        List<Lease> now = new ArrayList<>();
        for (Lease remainder : remainders) {
            if (now.size() < most && remainder.unused().isAvailable()) {
                now.add(remainder);
            } else {
                refundLater(remainder);
            }
        }
        return now;
    }

    /** Refunds leases that no call has taken from since this was called last. */
    void refundIdle() {
        Iterator<LeasedBucket> all = buckets.all().iterator();
        int patience = buckets.patience();
        List<Lease> remainders = next(all, patience);
        while (!remainders.isEmpty() && isDone(Lease.refund(remainders), LONGEST)) {
            if (all.hasNext() || !ended.isEmpty()) {
                LockSupport.parkNanos(PAUSE);
            }
            remainders = next(all, patience);
        }
    }

    /** As many as the store can afford. Of those that have nothing left there may be any number. */
    private List<Lease> next(Iterator<LeasedBucket> all, int patience) {
        int most = affordable();
        List<Lease> waiting = new ArrayList<>();
        ended.drainTo(waiting, most);
        List<Lease> remainders = available(waiting, most);
        while (all.hasNext() && (most == 0 || remainders.size() < most)) {
            LeasedBucket bucket = all.next();
            boolean refundable = most > 0 && bucket.isRefundable();
            remainders.addAll(buckets.retireIfIdle(bucket, patience, refundable, nanos.getAsLong()));
        }
        return remainders;
    }

    /** @param timeout the longest time to wait for the store */
    void refundAll(Duration timeout) {
        List<Lease> remainders = new ArrayList<>(buckets.retireAll(nanos.getAsLong()));
        ended.drainTo(remainders);
        remainders.removeIf(remainder -> !remainder.unused().isAvailable());
        if (!remainders.isEmpty()) {
            var unused = isDone(Lease.refund(remainders), timeout);
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
