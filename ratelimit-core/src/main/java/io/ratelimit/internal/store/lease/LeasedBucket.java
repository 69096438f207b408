package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The permits that this instance has leased from one bucket, and how many it will ask for next. One lease is used at a time, and
 * one may be asked for, or wait for its turn. Threads take leased permits without a lock; the lock is for leases that come and go.
 */
final class LeasedBucket {

    private final RateLimit limit;

    private final String key;

    private volatile @Nullable LeasedPermits leased;

    /** Came before the present one was used up. */
    private @Nullable LeasedPermits next;

    private @Nullable LeaseRequest request;

    /** 0: the next call takes none, so that a key which is used once costs no lease. */
    private long nextAsk;

    private boolean retired;

    private boolean wanted = true;

    private @Nullable LeasedPermits lastSeen;

    private long lastHandedOut;

    /** The number of looks in a row that found no use of it. */
    private int idleLooks;

    /** @param key as the registry has it */
    LeasedBucket(RateLimit limit, String key) {
        this.limit = limit;
        this.key = key;
    }

    String key() {
        return key;
    }

    RateLimit limit() {
        return limit;
    }

    /** Returns the permits of the present lease, if there is one. */
    @Nullable
    LeasedPermits leased() {
        return leased;
    }

    /** Takes leased permits for the only charge of a request; {@code null} if there are not so many. */
    @Nullable
    StoreOutcome take(StoreRequest request, LongSupplier clock) {
        LeasedPermits present = leased;
        return present == null ? null : present.take(request, clock);
    }

    /**
     * Returns the lease that a call waits for if there are too few permits, or a new one that the caller must ask the store
     * for; {@code null} if the store decides this call alone.
     */
    synchronized @Nullable JoinedRequest join(long permits, long nanos) {
        wanted = true;
        if (retired) {
            return null;
        }
        List<Lease> remainders = new ArrayList<>(2);
        for (LeasedPermits last = leased; last != null; last = leased) {
            LeasedPermits.Portion taken = last.takePortion(permits, nanos);
            if (taken != null) {
                return new JoinedRequest(LeaseRequest.completed(taken, remainders, nanos), false);
            }
            LeaseRequest present = request();
            if (present != null) {
                return joined(present, permits);
            }
            LeasedPermits.End end = last.close(permits, nanos);
            if (!end.remainder().isEmpty()) {
                remainders.add(end.remainder());
            }
            nextAsk = Math.min(end.nextAsk(), limit.lease());
            leased = next;
            next = null;
        }
        LeaseRequest present = request();
        if (present != null) {
            return joined(present, permits);
        }
        if (nextAsk == 0 && remainders.isEmpty()) {
            nextAsk = LeasedPermits.areSmall(limit) ? limit.lease() : Math.min(permits, limit.lease());
            return null;
        }
        LeaseRequest asks = new LeaseRequest(nextAsk, remainders, nanos);
        request = asks;
        return new JoinedRequest(asks, true);
    }

    private static @Nullable JoinedRequest joined(LeaseRequest present, long permits) {
        return present.claim(permits) ? new JoinedRequest(present, false) : null;
    }

    /** Returns the request under way. One that ended without an answer, such as by a StackOverflowError, does not count. */
    private @Nullable LeaseRequest request() {
        LeaseRequest present = request;
        return present == null || present.isOver() ? null : present;
    }

    /** Returns whether {@link #renew} has to be asked, because few permits are left. */
    boolean isRunningOut() {
        LeasedPermits present = leased;
        return present != null && present.areFew();
    }

    /**
     * Returns a request for the next lease, which the caller must make, if the present one will be used up before another could
     * come; {@code null} if not.
     */
    synchronized @Nullable LeaseRequest renew(long nanos) {
        LeasedPermits present = leased;
        if (retired || present == null || next != null || request() != null) {
            return null;
        }
        long ask = Math.min(present.nextAskIfDue(nanos), limit.lease());
        if (ask == 0) {
            return null;
        }
        LeaseRequest asks = new LeaseRequest(ask, List.of(), nanos);
        request = asks;
        return asks;
    }

    /** A lease to wait for, which may have come meanwhile, or to ask for oneself. */
    record JoinedRequest(LeaseRequest request, boolean asks) {}

    /**
     * The store has answered.
     *
     * @param brought {@code null} if there is none
     * @return the permits to refund, because they can no longer be used
     */
    synchronized Lease receive(LeaseRequest answered, @Nullable LeasedPermits brought, long nanos) {
        boolean expected = request == answered;
        if (expected) {
            request = null;
            nextAsk = 0;
        }
        if (brought == null) {
            return Lease.NONE;
        }
        if (answered.isAbandoned()) {
            brought.close(0, nanos);
            return Lease.NONE;
        }
        if (retired || !expected) {
            return brought.close(0, nanos).remainder();
        }
        answered.serve(brought, nanos);
        LeasedPermits present = leased;
        if (present != null && present.remainder(nanos) > 0) {
            next = brought;
            return Lease.NONE;
        }
        leased = brought;
        return present == null ? Lease.NONE : present.close(0, nanos).remainder();
    }

    /**
     * Gives up a request that the store should long have answered, so that a new one can be made. What it brings later is
     * refunded.
     *
     * @param latest gives up requests that were made by then
     * @return the request whose callers must be told
     */
    synchronized @Nullable LeaseRequest giveUp(long latest) {
        LeaseRequest present = request;
        if (present == null || present.since() - latest > 0) {
            return null;
        }
        request = null;
        return present.isOver() ? null : present;
    }

    /**
     * Ends it if no call has taken or wanted permits since it was looked at last; with a small lease, since so many looks.
     *
     * @param patience how many looks
     * @param refundable whether permits can be refunded now; otherwise it ends only if none are left
     * @return the permits to refund; {@code null} if it stays in use
     */
    synchronized @Nullable List<Lease> retireIfIdle(int patience, boolean refundable, long nanos) {
        long handedOut = handedOut();
        boolean idle = !wanted && request == null && leased == lastSeen && handedOut == lastHandedOut;
        idleLooks = idle ? idleLooks + 1 : 0;
        wanted = false;
        lastSeen = leased;
        lastHandedOut = handedOut;
        boolean ends = idle && (idleLooks >= patience || !isSmall()) && (refundable || remainder(nanos) == 0);
        return ends ? retire(nanos) : null;
    }

    private boolean isSmall() {
        LeasedPermits present = leased;
        return LeasedPermits.areSmall(limit) && (present == null || present.isSmall());
    }

    private long handedOut() {
        LeasedPermits present = leased;
        return present == null ? 0 : present.handedOut();
    }

    /** Returns whether what is left can be refunded now. */
    boolean isRefundable() {
        LeasedPermits present = leased;
        return present == null || present.isRefundable();
    }

    /** Returns how many permits are left to be refunded. */
    synchronized long remainder(long nanos) {
        return remainder(leased, nanos) + remainder(next, nanos);
    }

    private static long remainder(@Nullable LeasedPermits leased, long nanos) {
        return leased == null ? 0 : leased.remainder(nanos);
    }

    /** Ends it, so that the store decides later calls alone. Returns the permits to refund. */
    synchronized List<Lease> retire(long nanos) {
        retired = true;
        return closeAll(nanos);
    }

    /**
     * Drops the leases. Returns what is left of them, which is not to be refunded if the store has forgotten the bucket: then leased
     * permits are no longer charged.
     */
    synchronized List<Lease> forget(long nanos) {
        if (request != null) {
            request.abandon();
        }
        return closeAll(nanos);
    }

    /** Returns what is left, the latest lease first: the store may take back no other. */
    private List<Lease> closeAll(long nanos) {
        List<Lease> remainders = Stream.concat(Stream.ofNullable(next), Stream.ofNullable(leased))
                .map(lease -> lease.close(0, nanos).remainder())
                .filter(remainder -> !remainder.isEmpty())
                .toList();
        next = null;
        leased = null;
        return remainders;
    }
}
