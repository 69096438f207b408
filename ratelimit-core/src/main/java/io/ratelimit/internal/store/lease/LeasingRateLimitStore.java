package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.internal.store.BucketUnchangedException;
import io.ratelimit.internal.store.CombinedOutcome;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Takes permits of limits with a {@linkplain RateLimit#lease() lease} from a store in advance, and hands them out. A permit
 * is handed out only while it counts in the store, so that no more calls are allowed than the limit allows. Other instances
 * cannot use a leased permit until it is refunded or has come back over time.
 */
public final class LeasingRateLimitStore extends DelegatingRateLimitStore implements AutoCloseable {

    private static final int MOST_BUCKETS = 20_000;

    /** As for other calls that are late: what follows them may take its time. */
    private static final int LATE_THREADS = 256;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final LeasedBucketRegistry buckets;

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
                DaemonThreads.createOnDemand("ratelimit-late-lease", LATE_THREADS),
                MOST_BUCKETS);
        Watchdog.shared().watch(broker, LeaseBroker::giveUpOverdue);
    }

    /**
     * @param nanos a clock
     * @param thread in which idle leases are refunded
     * @param late in which calls are failed that have waited for too long
     * @param mostBuckets of how many buckets there may be leases at a time
     */
    public LeasingRateLimitStore(
            RateLimitStore store,
            Duration timeout,
            LongSupplier nanos,
            ScheduledExecutorService thread,
            Executor late,
            int mostBuckets) {
        super(store);
        this.nanos = nanos;
        this.thread = thread;
        this.buckets = new LeasedBucketRegistry(mostBuckets);
        this.sweep = new LeaseSweep(buckets, nanos, thread);
        this.broker = new LeaseBroker(store, timeout, nanos, thread, late, buckets, sweep);
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (!anyMayLease(request)) {
            return store().decide(request);
        }
        if (request.isSingle()) {
            return decideOne(request);
        }
        List<StoreOutcome> leased = new ArrayList<>();
        List<Charge> rest = new ArrayList<>();
        for (Charge charge : request.charges()) {
            StoreOutcome outcome = takeLeased(charge);
            if (outcome == null) {
                rest.add(charge);
            } else {
                leased.add(outcome);
            }
        }
        return rest.isEmpty() ? CombinedOutcome.of(request, leased) : decideRest(request, leased, request.with(rest));
    }

    /** Takes permits leased already; {@code null} if there are not so many. */
    private @Nullable StoreOutcome takeLeased(Charge charge) {
        LeasedBucket bucket = mayLease(charge) ? buckets.find(charge.limit(), charge.key()) : null;
        return bucket == null ? null : bucket.take(StoreRequest.refundable(List.of(charge)), nanos);
    }

    /** If the rest is rejected or not decided, the leased permits are put back. */
    private StoreAnswer decideRest(StoreRequest request, List<StoreOutcome> leased, StoreRequest rest) {
        StoreAnswer answer;
        try {
            boolean leasable = rest.isSingle() && mayLease(rest.first());
            answer = leasable ? decideOne(rest) : store().decide(rest);
        } catch (Throwable ex) {
            putBack(leased, charge -> true);
            throw ex;
        }
        return answer.handle((outcome, thrown) -> {
            if (outcome == null) {
                putBack(leased, charge -> true);
                throw Futures.unchecked(thrown);
            }
            if (outcome.isRejected()) {
                putBack(leased, charge -> !charge.limit().dryRun());
            }
            List<StoreOutcome> parts = new ArrayList<>(leased);
            parts.add(outcome);
            return CombinedOutcome.of(request, parts);
        });
    }

    private static void putBack(List<StoreOutcome> leased, Predicate<Charge> which) {
        for (StoreOutcome taken : leased) {
            var unused =
                    taken.refund().refund(taken.charges().stream().filter(which).toList());
        }
    }

    /**
     * Decides a request whose only charge may lease. One that may be refunded, because another store can still reject the call, takes
     * no lease: what the call that brings a lease has taken stays.
     */
    private StoreAnswer decideOne(StoreRequest request) {
        LeasedBucket bucket = bucket(request);
        StoreOutcome outcome = bucket == null ? null : take(request, bucket);
        if (outcome != null) {
            return outcome;
        }
        return bucket == null || request.refundable() ? store().decide(request) : broker.decide(request, bucket);
    }

    private @Nullable StoreOutcome take(StoreRequest request, LeasedBucket bucket) {
        StoreOutcome outcome = bucket.take(request, nanos);
        if (outcome != null) {
            broker.renewIfRunningOut(request.first(), bucket);
        }
        return outcome;
    }

    /** The lease by the plan that the key had before ends, so that its permits are not missing now. */
    private @Nullable LeasedBucket bucket(StoreRequest request) {
        RateLimit limit = request.first().limit();
        String key = request.first().key();
        LeasedBucket known = buckets.find(limit, key);
        if (known != null) {
            return known;
        }
        if (limit.plan() != null || !limit.plans().isEmpty()) {
            sweep.refund(buckets.retireOtherPlans(limit, key, nanos.getAsLong()));
        }
        // One that takes no lease needs no room.
        return request.refundable() ? null : buckets.of(limit, key);
    }

    private static boolean anyMayLease(StoreRequest request) {
        if (request.isPeek() || request.more() > 0) {
            return false;
        }
        if (request.isSingle()) {
            return mayLease(request.first());
        }
        List<Charge> charges = request.charges();
        for (int i = 0; i < charges.size(); i++) {
            if (mayLease(charges.get(i))) {
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

    /**
     * Once a key was blocked or reset, or has got permits back, its calls take no leased permits of this instance: those may be
     * among what came back. Leases of other instances last until they end, and so do those of a key that was not changed.
     */
    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        return switch (change.kind()) {
            case NONE, UNBLOCK -> super.change(limit, key, change);
            case BLOCK, RESET -> changeAndForget(limit, key, change);
            // Permits that are not refunded are among those that come back, or stay used.
            case GRANT ->
                Lease.refund(unused(limit, key))
                        .<@Nullable Void>handle((refunded, thrown) -> null)
                        .thenCompose(refunded -> changeAndForget(limit, key, change));
        };
    }

    private CompletionStage<BucketStatus> changeAndForget(RateLimit limit, @Nullable String key, BucketChange change) {
        return super.change(limit, key, change).whenComplete((status, thrown) -> {
            if (thrown == null || !(Futures.unwrap(thrown) instanceof BucketUnchangedException)) {
                forget(limit, key);
            }
        });
    }

    private List<Lease> unused(RateLimit limit, @Nullable String key) {
        return buckets.ofAllPlans(limit, key).stream()
                .filter(LeasedBucket::isRefundable)
                .flatMap(bucket -> bucket.forget(nanos.getAsLong()).stream())
                .toList();
    }

    @Override
    public void forget(String limit, String keyDigest) {
        super.forget(limit, keyDigest);
        buckets.find(limit, keyDigest).forEach(this::drop);
    }

    /** The key may have had another plan when permits were leased. */
    private void forget(RateLimit limit, @Nullable String key) {
        buckets.ofAllPlans(limit, key).forEach(this::drop);
    }

    private void drop(LeasedBucket bucket) {
        var unused = bucket.forget(nanos.getAsLong());
    }

    /**
     * Ends the leases of a limit that has changed, whatever rule they were taken by: a limit may change back to one while the
     * permits have come back by another. They are refunded in the background.
     *
     * @param limit the {@linkplain RateLimit#id() id} of the limit
     */
    public void retire(String limit) {
        sweep.refund(buckets.retire(limit, nanos.getAsLong()));
    }

    /**
     * Returns how many permits this instance has leased and not handed out.
     *
     * @param limit the {@linkplain RateLimit#id() id} of the limit
     */
    public long leased(String limit) {
        return buckets.leased(limit, nanos.getAsLong());
    }

    /** As {@link LeaseBroker#giveUpOverdue}. */
    @Nullable
    String giveUpOverdue() {
        return broker.giveUpOverdue();
    }

    /** Refunds leases that no call has taken from since this was called last. */
    void refundIdle() {
        sweep.refundIdle();
    }

    /**
     * Refunds all that was not handed out, and from now on takes no more in advance.
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
