package io.ratelimit.store.lease;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
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
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides one charge that may lease, for which too few permits are here: with the next lease, or by the store alone. A
 * thread waits no longer than the timeout, on its own: it depends on no other thread.
 */
final class LeaseBroker {

    /** In timeouts: the store gives a call so many if this JVM stands still meanwhile. */
    private static final long LAST = 2;

    /** The store fails its calls in time; a thread that waits for it leaves it so much to do so. */
    private static final long GRACE = Duration.ofMillis(30).toNanos();

    /** In timeouts: a request that has no answer after so many never will. */
    private static final long OVERDUE = 3;

    private final RateLimitStore store;

    private final long timeout;

    private final LongSupplier nanos;

    private final ScheduledExecutorService timer;

    private final Executor late;

    private final LeasedBuckets buckets;

    private final LeaseSweep sweep;

    private volatile boolean open = true;

    /**
     * @param timer tells when an asynchronous call has waited for too long
     * @param late where such a call is failed: what follows it may take its time
     */
    LeaseBroker(
            RateLimitStore store,
            Duration timeout,
            LongSupplier nanos,
            ScheduledExecutorService timer,
            Executor late,
            LeasedBuckets buckets,
            LeaseSweep sweep) {
        this.store = store;
        this.timeout = timeout.toNanos();
        this.nanos = nanos;
        this.timer = timer;
        this.late = late;
        this.buckets = buckets;
        this.sweep = sweep;
    }

    /** Whether leases are taken. */
    void open(boolean leases) {
        open = leases;
    }

    /** Blocks. */
    RateLimitDecision decide(Charge charge) {
        LeasedBucket bucket = bucket(charge);
        LeasedBucket.Approach approach = approach(bucket, charge);
        if (bucket == null || approach == null) {
            return store.decide(charge);
        }
        long since = nanos.getAsLong();
        LeaseRequest request = approach.request();
        if (approach.asks()) {
            return await(ask(charge, bucket, request), LAST * timeout + GRACE)
                    .decisions()
                    .get(0);
        }
        await(request.arrival(), LAST * timeout + GRACE);
        RateLimitDecision decision = request.decision();
        if (decision == null) {
            decision = bucket.take(charge.permits(), nanos.getAsLong());
        }
        return decision != null
                ? decision
                : await(store.decideAsync(List.of(charge)), timeout - (nanos.getAsLong() - since))
                        .get(0);
    }

    /** Does not block. */
    CompletionStage<RefundableDecisions> decideAsync(Charge charge, boolean refundable) {
        LeasedBucket bucket = bucket(charge);
        LeasedBucket.Approach approach = approach(bucket, charge);
        if (bucket == null || approach == null) {
            return decideInStore(charge, refundable);
        }
        if (approach.asks()) {
            return ask(charge, bucket, approach.request());
        }
        long since = nanos.getAsLong();
        return approach.request().landing().thenCompose(landed -> {
            RefundableDecisions served = approach.request().served(charge, refundable);
            return served == null
                    ? afterWaiting(charge, bucket, refundable, timeout - (nanos.getAsLong() - since))
                    : CompletableFuture.completedFuture(served);
        });
    }

    private @Nullable LeasedBucket bucket(Charge charge) {
        LeasedBucket bucket = buckets.of(charge.limit(), charge.key());
        if (bucket != null && open) {
            sweep.begin();
        }
        return bucket;
    }

    /** Looked at after the bucket is there: one that comes too late to be given back is not used. */
    private LeasedBucket.@Nullable Approach approach(@Nullable LeasedBucket bucket, Charge charge) {
        return bucket != null && open ? bucket.approach(charge.permits(), nanos.getAsLong()) : null;
    }

    private CompletionStage<RefundableDecisions> afterWaiting(
            Charge charge, LeasedBucket bucket, boolean refundable, long left) {
        PartlyLeasedCall call = new PartlyLeasedCall(List.of(charge), nanos);
        call.takeFrom(bucket.stock(), charge);
        return call.rest().isEmpty()
                ? CompletableFuture.completedFuture(call.decided())
                : within(left, decideInStore(charge, refundable));
    }

    private CompletionStage<RefundableDecisions> decideInStore(Charge charge, boolean refundable) {
        List<Charge> charges = List.of(charge);
        return refundable
                ? store.decideRefundably(charges)
                : store.decideAsync(charges).thenApply(decisions -> new RefundableDecisions(decisions, Refund.NONE));
    }

    /** Bounds a call that got no permits from the lease it waited for: the store would give it a full timeout again. */
    private CompletionStage<RefundableDecisions> within(long left, CompletionStage<RefundableDecisions> work) {
        CompletableFuture<RefundableDecisions> decided =
                work.toCompletableFuture().copy();
        if (!decided.isDone()) {
            endLater(decided, left);
        }
        return decided;
    }

    private void endLater(CompletableFuture<RefundableDecisions> decided, long left) {
        try {
            Future<?> end = timer.schedule(
                    () -> later(() -> decided.completeExceptionally(tooLate())), left, TimeUnit.NANOSECONDS);
            var unused = decided.whenComplete((decisions, thrown) -> end.cancel(false));
        } catch (Throwable ex) {
            // No thread can be had: it ends by the store's own deadline.
        }
    }

    /** On this thread if there is no other. */
    private void later(Runnable end) {
        try {
            late.execute(end);
        } catch (Throwable ex) {
            end.run();
        }
    }

    private CompletableFuture<RefundableDecisions> ask(Charge charge, LeasedBucket bucket, LeaseRequest request) {
        long sent = nanos.getAsLong();
        CompletableFuture<RefundableDecisions> asked = new CompletableFuture<>();
        var unused = started(charge, request).whenComplete((lease, thrown) -> {
            RefundableDecisions decided = null;
            Throwable failure = thrown;
            try {
                decided = landed(charge, bucket, request, lease, sent);
            } catch (Throwable ex) {
                // Whatever it is, others may wait for the lease.
                failure = thrown == null ? ex : thrown;
            }
            request.arrived(failure);
            if (decided == null) {
                asked.completeExceptionally(cause(failure));
            } else {
                asked.complete(decided);
            }
            request.landed(failure);
        });
        // Where that never comes, the request is given up.
        var unusedEnd = request.landing().exceptionally(thrown -> {
            asked.completeExceptionally(cause(thrown));
            return null;
        });
        return asked;
    }

    private CompletionStage<Lease> started(Charge charge, LeaseRequest request) {
        return Futures.start(() -> {
            refund(request.before());
            return store.lease(charge, request.asked());
        });
    }

    private @Nullable RefundableDecisions landed(
            Charge charge, LeasedBucket bucket, LeaseRequest request, @Nullable Lease lease, long sent) {
        LeasedPermits brought =
                lease != null && lease.decision().allowed() ? new LeasedPermits(charge.limit(), lease, sent) : null;
        refund(bucket.land(request, brought, nanos.getAsLong()));
        return lease == null
                ? null
                : new RefundableDecisions(
                        List.of(lease.decision()),
                        brought == null || opensAPeriod(charge.limit()) ? Refund.NONE : brought.refund(charge));
    }

    /** A period that the call has opened would by the rule end with its refund, and in the store does not. */
    private static boolean opensAPeriod(RateLimit limit) {
        return AlgorithmTraits.of(limit).startsPeriods();
    }

    /** At once if possible, so that the call finds them there; a token bucket takes nothing back from before its next lease. */
    private void refund(LeaseRemainder remainder) {
        if (remainder.isEmpty()) {
            return;
        }
        // After the end there is no other time.
        if (!open || store.affordableRefunds() > 0) {
            var unused = store.refundLeases(List.of(remainder));
        } else {
            sweep.refundLater(remainder);
        }
    }

    /**
     * Takes up buckets again whose request should long have been answered.
     *
     * @return what there was, for the log; {@code null} if all is well
     */
    @Nullable
    String giveUpOverdue() {
        List<LeaseRequest> overdue = buckets.giveUp(nanos.getAsLong() - OVERDUE * timeout);
        for (LeaseRequest request : overdue) {
            RateLimitStoreException failure = tooLate();
            request.arrived(failure);
            later(() -> request.landed(failure));
        }
        return overdue.isEmpty()
                ? null
                : overdue.size() + " requests for leases had no answer; their buckets ask again";
    }

    private static <T> T await(CompletionStage<T> work, long left) {
        return BoundedWait.get(work, Duration.ofNanos(left));
    }

    private static RateLimitStoreException tooLate() {
        return new RateLimitStoreException(Reason.TIMEOUT, "No answer in time, after a lease", null);
    }

    private static Throwable cause(@Nullable Throwable thrown) {
        return thrown == null ? new IllegalStateException("Neither a lease nor a failure") : Futures.unwrap(thrown);
    }
}
