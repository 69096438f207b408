package io.ratelimit.store.lease;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.concurrent.Watchdog;
import io.ratelimit.store.Lease;
import io.ratelimit.store.LeaseRemainder;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.RefundableDecisions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes permits of limits with a {@linkplain RateLimit#lease() lease} from a store in advance, and hands them out. More
 * than the limit allows is never let through: a permit is handed out only while it counts in the store. What is taken and
 * not handed out is kept from other instances until it is given back, or back by itself.
 */
public final class LeasingRateLimitStore implements RateLimitStore, AutoCloseable {

    private static final int MOST_BUCKETS = 10_000;

    /** As for other calls that are late: what follows them may take its time. */
    private static final int LATE_THREADS = 256;

    private final RateLimitStore store;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final LeasedBuckets buckets;

    private final LeaseSweep sweep;

    private final LeaseBroker broker;

    /**
     * @param store the one that limits are shared by
     * @param timeout the longest that it takes to decide, and that a call takes here
     */
    public LeasingRateLimitStore(RateLimitStore store, Duration timeout) {
        this(
                store,
                timeout,
                new PauseCountingClock(),
                LeaseSweep.thread(),
                DaemonThreads.create("ratelimit-late-lease", LATE_THREADS, Integer.MAX_VALUE),
                MOST_BUCKETS);
        Watchdog.shared().watch(broker, LeaseBroker::giveUpOverdue);
    }

    /** For tests: calls that are late fail in the thread that finds out. */
    public LeasingRateLimitStore(
            RateLimitStore store,
            Duration timeout,
            LongSupplier nanos,
            ScheduledExecutorService thread,
            int mostBuckets) {
        this(store, timeout, nanos, thread, Runnable::run, mostBuckets);
    }

    /**
     * @param nanos a clock
     * @param thread in which idle leases are refunded
     * @param late in which calls are failed that have waited for too long
     * @param mostBuckets of how many buckets there may be leases at a time
     */
    LeasingRateLimitStore(
            RateLimitStore store,
            Duration timeout,
            LongSupplier nanos,
            ScheduledExecutorService thread,
            Executor late,
            int mostBuckets) {
        this.store = store;
        this.nanos = nanos;
        this.thread = thread;
        this.buckets = new LeasedBuckets(mostBuckets);
        this.sweep = new LeaseSweep(buckets, store, nanos, thread);
        this.broker = new LeaseBroker(store, timeout, nanos, thread, late, buckets, sweep);
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        if (!mayLease(charge)) {
            return store.decide(charge);
        }
        RateLimitDecision decision = fromStock(charge);
        return decision != null ? decision : broker.decide(charge);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(decide(charges.get(0)));
        }
        if (!anyMayLease(charges)) {
            return store.decide(charges);
        }
        PartlyLeasedCall call = stocked(charges);
        List<Charge> rest = call.rest();
        if (rest.isEmpty()) {
            return call.decided().decisions();
        }
        List<RateLimitDecision> decisions;
        try {
            decisions = isLeasable(rest) ? List.of(broker.decide(rest.get(0))) : store.decide(rest);
        } catch (Throwable ex) {
            call.putBack();
            throw ex;
        }
        return call.decided(new RefundableDecisions(decisions, Refund.NONE)).decisions();
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return anyMayLease(charges)
                ? decideTogether(charges, false).thenApply(RefundableDecisions::decisions)
                : store.decideAsync(charges);
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return anyMayLease(charges) ? decideTogether(charges, true) : store.decideRefundably(charges);
    }

    private static boolean anyMayLease(List<Charge> charges) {
        for (Charge charge : charges) {
            if (mayLease(charge)) {
                return true;
            }
        }
        return false;
    }

    private static boolean mayLease(Charge charge) {
        return charge.limit().lease() > 0
                && charge.permits() > 0
                && charge.permits() <= charge.limit().capacity();
    }

    private @Nullable RateLimitDecision fromStock(Charge charge) {
        LeasedBucket bucket = buckets.find(charge.limit(), charge.key());
        return bucket == null ? null : bucket.take(charge.permits(), nanos.getAsLong());
    }

    /** What stocks have is taken from them. */
    private PartlyLeasedCall stocked(List<Charge> charges) {
        PartlyLeasedCall.checkDistinct(charges);
        PartlyLeasedCall call = new PartlyLeasedCall(charges, nanos);
        for (Charge charge : charges) {
            LeasedBucket bucket = mayLease(charge) ? buckets.find(charge.limit(), charge.key()) : null;
            call.takeFrom(bucket == null ? null : bucket.stock(), charge);
        }
        return call;
    }

    private static boolean isLeasable(List<Charge> rest) {
        return rest.size() == 1 && mayLease(rest.get(0));
    }

    /** What no stock covers is decided by the store, in one trip. */
    private CompletionStage<RefundableDecisions> decideTogether(List<Charge> charges, boolean refundable) {
        PartlyLeasedCall call = stocked(charges);
        List<Charge> rest = call.rest();
        if (rest.isEmpty()) {
            return CompletableFuture.completedFuture(call.decided());
        }
        CompletionStage<RefundableDecisions> decided =
                isLeasable(rest) ? broker.decideAsync(rest.get(0), refundable) : decideInStore(rest, refundable);
        return rest.size() == charges.size() ? decided : decided.handle(call::decided);
    }

    private CompletionStage<RefundableDecisions> decideInStore(List<Charge> charges, boolean refundable) {
        return Futures.start(() -> refundable
                ? store.decideRefundably(charges)
                : store.decideAsync(charges).thenApply(decisions -> new RefundableDecisions(decisions, Refund.NONE)));
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        return store.lease(charge, more);
    }

    @Override
    public boolean isNonBlocking() {
        return store.isNonBlocking();
    }

    /** As the store says: to it, what is leased is used. */
    @Override
    public RateLimitDecision peek(Charge charge) {
        return store.peek(charge);
    }

    /** Leases of other instances last until they end. */
    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        forget(limit, key);
        store.reset(limit, key);
        // One that has come meanwhile may have been charged before.
        forget(limit, key);
    }

    private void forget(RateLimit limit, @Nullable String key) {
        LeasedBucket bucket = buckets.find(limit, key);
        if (bucket != null) {
            bucket.forget(nanos.getAsLong());
        }
    }

    @Override
    public CompletionStage<Void> refundLeases(List<LeaseRemainder> remainders) {
        return store.refundLeases(remainders);
    }

    @Override
    public CompletionStage<Void> check() {
        return store.check();
    }

    /** As {@link LeaseBroker#giveUpOverdue}. */
    @Nullable
    public String giveUpOverdue() {
        return broker.giveUpOverdue();
    }

    /** Gives back what nobody has taken from since this was called last. */
    public void refundIdle() {
        sweep.refundIdle();
    }

    /**
     * Gives back all that was not handed out, and from now on takes no more in advance.
     *
     * @param timeout the longest time to wait for the store
     */
    public void refundAll(Duration timeout) {
        broker.open(false);
        sweep.refundAll(timeout);
    }

    /** Takes permits in advance again, after {@link #refundAll}. */
    public void resume() {
        broker.open(true);
    }

    /** Ends the thread. */
    @Override
    public void close() {
        broker.open(false);
        thread.shutdownNow();
    }
}
