package io.ratelimit;

import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes permits of limits with a {@linkplain RateLimit#lease() lease} from a store in advance, and hands them out. More
 * than the limit allows is never let through: a permit is handed out only while it counts in the store. What is taken and
 * not handed out is kept from other instances until it is given back, or back by itself.
 */
public final class LeasingRateLimitStore implements RateLimitStore, AutoCloseable {

    private static final int MOST_BUCKETS = 10_000;

    private final RateLimitStore store;

    private final long timeout;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final LeasedBuckets buckets;

    private final LeaseSweep sweep;

    private volatile boolean leases = true;

    /**
     * @param store the one that limits are shared by
     * @param timeout the longest that it takes to decide, and that a call takes here
     */
    public LeasingRateLimitStore(RateLimitStore store, Duration timeout) {
        this(store, timeout, System::nanoTime, LeaseSweep.thread(), MOST_BUCKETS);
    }

    /**
     * @param nanos a clock
     * @param thread in which is given back what is idle, and told who has waited for too long
     * @param mostBuckets of how many buckets there may be leases at a time
     */
    LeasingRateLimitStore(
            RateLimitStore store,
            Duration timeout,
            LongSupplier nanos,
            ScheduledExecutorService thread,
            int mostBuckets) {
        this.store = store;
        this.timeout = timeout.toNanos();
        this.nanos = nanos;
        this.thread = thread;
        this.buckets = new LeasedBuckets(mostBuckets);
        this.sweep = new LeaseSweep(buckets, store, nanos, thread);
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        if (!mayLease(charge)) {
            return store.decide(charge);
        }
        RateLimitDecision decision = fromStock(charge);
        return decision != null ? decision : decideLeasing(List.of(charge)).get(0);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(decide(charges.get(0)));
        }
        return anyMayLease(charges) ? decideLeasing(charges) : store.decide(charges);
    }

    private List<RateLimitDecision> decideLeasing(List<Charge> charges) {
        try {
            return decideAsync(charges).toCompletableFuture().join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException failure ? failure : ex;
        }
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
        Stock stock = stock(charge);
        if (stock == null) {
            return null;
        }
        long now = nanos.getAsLong();
        long after = stock.take(charge.permits(), now);
        return after < 0 ? null : stock.decision(after, now);
    }

    private @Nullable Stock stock(Charge charge) {
        if (!mayLease(charge)) {
            return null;
        }
        LeasedBucket bucket = buckets.find(charge.limit(), charge.key());
        return bucket == null ? null : bucket.stock();
    }

    /** What stocks have is taken from them; the rest is decided by the store, in one trip. */
    private CompletionStage<RefundableDecisions> decideTogether(List<Charge> charges, boolean refundable) {
        StockedCall.checkDistinct(charges);
        StockedCall call = new StockedCall(charges, nanos);
        for (Charge charge : charges) {
            call.takeFrom(stock(charge), charge);
        }
        List<Charge> rest = call.rest();
        if (rest.isEmpty()) {
            return CompletableFuture.completedFuture(call.decided());
        }
        CompletionStage<RefundableDecisions> decided = rest.size() == 1 && mayLease(rest.get(0))
                ? lease(rest.get(0), refundable)
                : decideInStore(rest, refundable);
        return rest.size() == charges.size() ? decided : decided.handle(call::decided);
    }

    private CompletionStage<RefundableDecisions> decideInStore(List<Charge> charges, boolean refundable) {
        return start(() -> refundable
                ? store.decideRefundably(charges)
                : store.decideAsync(charges).thenApply(decisions -> new RefundableDecisions(decisions, Refund.NONE)));
    }

    private CompletionStage<RefundableDecisions> lease(Charge charge, boolean refundable) {
        List<Charge> charges = List.of(charge);
        LeasedBucket bucket = buckets.of(charge.limit(), charge.key());
        if (bucket != null && leases) {
            sweep.begin();
        }
        // Looked at after the bucket is there: one that comes too late to be given back is not used.
        LeasedBucket.Approach approach =
                bucket != null && leases ? bucket.approach(charge.permits(), nanos.getAsLong()) : null;
        if (bucket == null || approach == null) {
            return decideInStore(charges, refundable);
        }
        if (approach.asks()) {
            return ask(charge, bucket, approach.flight());
        }
        long since = nanos.getAsLong();
        return approach.flight().landing().thenCompose(landed -> {
            RefundableDecisions served = approach.flight().served(charge, refundable);
            return served == null
                    ? afterWaiting(charges, bucket, refundable, timeout - (nanos.getAsLong() - since))
                    : CompletableFuture.completedFuture(served);
        });
    }

    private CompletionStage<RefundableDecisions> afterWaiting(
            List<Charge> charges, LeasedBucket bucket, boolean refundable, long left) {
        StockedCall call = new StockedCall(charges, nanos);
        call.takeFrom(bucket.stock(), charges.get(0));
        return call.rest().isEmpty()
                ? CompletableFuture.completedFuture(call.decided())
                : decideInStore(charges, refundable, left);
    }

    /** For a call that has waited for a lease in vain: the store would give it as much time again. */
    private CompletionStage<RefundableDecisions> decideInStore(List<Charge> charges, boolean refundable, long left) {
        CompletableFuture<RefundableDecisions> decided =
                decideInStore(charges, refundable).toCompletableFuture().copy();
        if (!decided.isDone()) {
            Future<?> tooLate = thread.schedule(
                    () -> decided.completeExceptionally(
                            new RateLimitStoreException(Reason.TIMEOUT, "No answer in time, after a lease", null)),
                    left,
                    TimeUnit.NANOSECONDS);
            var unused = decided.whenComplete((decisions, thrown) -> tooLate.cancel(false));
        }
        return decided;
    }

    private CompletionStage<RefundableDecisions> ask(Charge charge, LeasedBucket bucket, LeaseFlight flight) {
        long sent = nanos.getAsLong();
        return start(() -> {
                    giveBackNow(flight.before());
                    return store.lease(charge, flight.asked());
                })
                .handle((lease, thrown) -> {
                    try {
                        return landed(charge, bucket, flight, lease, thrown, sent);
                    } catch (Throwable ex) {
                        // Whatever it is, somebody may wait for the lease.
                        flight.landing().completeExceptionally(thrown == null ? ex : thrown);
                        throw ex;
                    }
                });
    }

    private RefundableDecisions landed(
            Charge charge,
            LeasedBucket bucket,
            LeaseFlight flight,
            @Nullable Lease lease,
            @Nullable Throwable thrown,
            long sent) {
        Stock brought = lease != null && lease.decision().allowed() ? new Stock(charge.limit(), lease, sent) : null;
        giveBackNow(bucket.land(flight, brought, nanos.getAsLong()));
        if (lease == null) {
            throw thrown instanceof CompletionException ex ? ex : new CompletionException(thrown);
        }
        flight.landing().complete(null);
        return new RefundableDecisions(
                List.of(lease.decision()),
                brought == null || opensAPeriod(charge.limit()) ? Refund.NONE : brought.refund(charge));
    }

    /** A period that the call has opened would by the rule end with its refund, and in the store does not. */
    private static boolean opensAPeriod(RateLimit limit) {
        return limit.algorithm() == Algorithm.FIXED_WINDOW || limit.refill() == Refill.INTERVAL;
    }

    /** At once if possible, so that the call finds them there; a token bucket takes nothing back from before its next lease. */
    private void giveBackNow(LeaseRemainder remainder) {
        if (remainder.isEmpty()) {
            return;
        }
        // After the end there is no other time.
        if (!leases || store.affordableRefunds() > 0) {
            var unused = store.giveBackLeases(List.of(remainder));
        } else {
            sweep.giveBackLater(remainder);
        }
    }

    private static <T> CompletionStage<T> start(Supplier<CompletionStage<T>> work) {
        try {
            return work.get();
        } catch (Throwable ex) {
            // Whatever it is, somebody may wait for the lease.
            return CompletableFuture.failedFuture(ex);
        }
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        return store.lease(charge, more);
    }

    @Override
    public boolean answersAtOnce() {
        return store.answersAtOnce();
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
    public CompletionStage<Void> check() {
        return store.check();
    }

    /** Gives back what nobody has taken from since this was called last. */
    void giveBackIdle() {
        sweep.giveBackIdle();
    }

    /**
     * Gives back all that was not handed out, and from now on takes no more in advance.
     *
     * @param timeout the longest time to wait for the store
     */
    public void giveBackAll(Duration timeout) {
        leases = false;
        sweep.giveBackAll(timeout);
    }

    /** Takes permits in advance again, after {@link #giveBackAll}. */
    public void resume() {
        leases = true;
    }

    /** Ends the thread. */
    @Override
    public void close() {
        leases = false;
        thread.shutdownNow();
    }
}
