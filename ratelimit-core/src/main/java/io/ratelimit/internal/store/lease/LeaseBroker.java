package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
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
 * Decides a charge for which the permits leased so far are too few: with the next lease, or by the store alone. A thread
 * waits no longer than the timeout, and depends on no other thread for that.
 */
final class LeaseBroker {

    /** In timeouts. The store allows a call so many if this JVM is paused meanwhile. */
    private static final long LAST = 2;

    /** The time that a waiting thread leaves the store to fail the call itself. */
    private static final long GRACE = Duration.ofMillis(30).toNanos();

    /** In timeouts. A request without an answer after so many is given up. */
    private static final long OVERDUE = 3;

    private final RateLimitStore store;

    private final long timeout;

    private final LongSupplier nanos;

    private final ScheduledExecutorService timer;

    private final Executor late;

    private final LeasedBucketRegistry buckets;

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
            LeasedBucketRegistry buckets,
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

    /** Decides a request with one charge, for which the bucket has too few permits. */
    StoreAnswer decide(StoreRequest request, LeasedBucket bucket) {
        LeasedBucket.JoinedRequest joined = join(bucket, request);
        if (joined == null) {
            return store.decide(request);
        }
        LeaseRequest lease = joined.request();
        long since = nanos.getAsLong();
        if (joined.asks()) {
            return StoreAnswer.of(
                    () -> await(ask(request, bucket, lease), LAST * timeout + GRACE),
                    () -> ask(request, bucket, lease));
        }
        refund(lease.before());
        return StoreAnswer.of(
                () -> {
                    BoundedWait.yieldFor(lease.arrival());
                    await(lease.arrival(), LAST * timeout + GRACE);
                    StoreOutcome outcome = served(request, bucket, lease);
                    return outcome != null
                            ? outcome
                            : await(store.decide(request).toStage(), timeout - (nanos.getAsLong() - since));
                },
                () -> lease.completion().thenCompose(answered -> {
                    StoreOutcome outcome = served(request, bucket, lease);
                    return outcome != null
                            ? CompletableFuture.completedFuture(outcome)
                            : within(
                                    timeout - (nanos.getAsLong() - since),
                                    store.decide(request).toStage());
                }));
    }

    /** Returns the outcome of a call by the lease that it waited for, or by another one; {@code null}: neither has enough. */
    private @Nullable StoreOutcome served(StoreRequest call, LeasedBucket bucket, LeaseRequest request) {
        StoreOutcome outcome = request.served(call, nanos);
        return outcome != null ? outcome : bucket.take(call, nanos);
    }

    /** Asks for the next lease of a bucket with few permits left, if it is due. Does not block. */
    void renewIfRunningOut(Charge charge, LeasedBucket bucket) {
        LeaseRequest request = open && bucket.isRunningOut() ? bucket.renew(nanos.getAsLong()) : null;
        if (request != null) {
            var unused = ask(new Charge(charge.limit(), charge.key(), 0), bucket, request);
        }
    }

    /** Looked at after the bucket is there: one that comes too late to be refunded is not used. */
    private LeasedBucket.@Nullable JoinedRequest join(LeasedBucket bucket, StoreRequest request) {
        if (!open) {
            return null;
        }
        sweep.begin();
        return bucket.join(request.first().permits(), nanos.getAsLong());
    }

    /** Bounds a call that got no permits from the lease it waited for: the store would give it a full timeout again. */
    private CompletionStage<StoreOutcome> within(long left, CompletionStage<StoreOutcome> work) {
        CompletableFuture<StoreOutcome> decided = work.toCompletableFuture().copy();
        if (!decided.isDone()) {
            endLater(decided, left);
        }
        return decided;
    }

    private void endLater(CompletableFuture<StoreOutcome> decided, long left) {
        try {
            Future<?> end = timer.schedule(
                    () -> DaemonThreads.runApart(late, () -> decided.completeExceptionally(tooLate())),
                    left,
                    TimeUnit.NANOSECONDS);
            var unused = decided.whenComplete((outcome, thrown) -> end.cancel(false));
        } catch (Throwable ex) {
            // No thread could be created. The call ends by the store's own deadline.
        }
    }

    private CompletableFuture<StoreOutcome> ask(StoreRequest call, LeasedBucket bucket, LeaseRequest request) {
        long sent = nanos.getAsLong();
        Charge charge = call.first();
        CompletableFuture<StoreOutcome> asked = new CompletableFuture<>();
        var unused = started(charge, request).whenComplete((outcome, thrown) -> {
            StoreOutcome decided = null;
            Throwable failure = thrown;
            try {
                decided = received(call, bucket, request, outcome, sent);
            } catch (Throwable ex) {
                // Whatever it is, others may wait for the lease.
                failure = thrown == null ? ex : thrown;
            }
            request.arrived(failure);
            Futures.complete(asked, decided, failure == null ? null : Futures.unwrap(failure));
            request.complete(failure);
        });
        // If the store never answers, the request is given up.
        var unusedEnd = request.completion().exceptionally(thrown -> {
            asked.completeExceptionally(Futures.unwrap(thrown));
            return null;
        });
        return asked;
    }

    private CompletionStage<StoreOutcome> started(Charge charge, LeaseRequest request) {
        return Futures.start(() -> {
            refund(request.before());
            return store.decide(StoreRequest.lease(charge, request.asked())).toStage();
        });
    }

    private @Nullable StoreOutcome received(
            StoreRequest call, LeasedBucket bucket, LeaseRequest request, @Nullable StoreOutcome outcome, long sent) {
        Charge charge = call.first();
        long now = nanos.getAsLong();
        Lease lease = outcome == null || !outcome.decision().allowed() ? null : outcome.lease();
        sweep.know(lease);
        LeasedPermits brought = outcome == null || lease == null
                ? null
                : new LeasedPermits(charge.limit(), outcome.decision(), lease, sent, now);
        Lease remainder = bucket.receive(request, brought, now);
        refund(remainder.isEmpty() ? List.of() : List.of(remainder));
        renewIfRunningOut(charge, bucket);
        return outcome == null ? null : StoreOutcome.of(call, outcome.decision());
    }

    /** At once if possible, so that the call finds them there; a token bucket takes nothing back from before its next lease. */
    private void refund(List<Lease> remainders) {
        if (open) {
            sweep.refund(remainders);
        } else {
            // After shutdown there is no later.
            var unused = Lease.refund(remainders);
        }
    }

    /**
     * Gives up requests that should long have been answered, so that their buckets ask again.
     *
     * @return a sentence for the log; {@code null} if there was none
     */
    @Nullable
    String giveUpOverdue() {
        List<LeaseRequest> overdue = buckets.giveUp(nanos.getAsLong() - OVERDUE * timeout);
        for (LeaseRequest request : overdue) {
            RateLimitStoreException failure = tooLate();
            request.arrived(failure);
            DaemonThreads.runApart(late, () -> request.complete(failure));
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
}
