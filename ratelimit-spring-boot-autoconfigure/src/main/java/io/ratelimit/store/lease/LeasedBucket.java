package io.ratelimit.store.lease;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.Lease;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import org.jspecify.annotations.Nullable;

/**
 * The permits that this instance has leased from one bucket, and how many it will ask for next. There is one lease at a time.
 * Threads take leased permits without a lock; the lock is for leases that come and go.
 */
final class LeasedBucket {

    private final RateLimit limit;

    private volatile @Nullable LeasedPermits leased;

    private @Nullable LeaseRequest request;

    /** 0: the next call takes none, so that a key which is used once costs no lease. */
    private long nextAsk;

    private boolean retired;

    private boolean wanted = true;

    private @Nullable LeasedPermits lastSeen;

    private long lastHandedOut;

    LeasedBucket(RateLimit limit) {
        this.limit = limit;
    }

    /** Returns the permits of the present lease, if there is one. */
    @Nullable
    LeasedPermits leased() {
        return leased;
    }

    /** Takes leased permits for the only charge of a request; {@code null} if there are not so many. */
    @Nullable
    StoreOutcome take(StoreRequest request, long nanos) {
        LeasedPermits present = leased;
        RateLimitDecision decision = present == null ? null : take(present, request.first(), nanos);
        return present == null || decision == null ? null : present.outcome(request, decision);
    }

    /** Takes leased permits; {@code null} if there are not so many. */
    @Nullable
    RateLimitDecision take(Charge charge, long nanos) {
        LeasedPermits present = leased;
        return present == null ? null : take(present, charge, nanos);
    }

    private static @Nullable RateLimitDecision take(LeasedPermits present, Charge charge, long nanos) {
        long after = present.take(charge.permits(), nanos);
        return after < 0 ? null : present.decision(after, nanos);
    }

    /**
     * Returns the lease that a call waits for if there are too few permits, or a new one that the caller must ask the store
     * for; {@code null} if the store decides this call alone.
     */
    synchronized @Nullable JoinedRequest join(long permits, long nanos) {
        wanted = true;
        LeaseRequest present = request;
        LeasedPermits last = leased;
        if (retired) {
            return null;
        }
        // One that ended without an answer, such as by a StackOverflowError, does not count.
        if (present != null && !present.isOver()) {
            return present.claim(permits) ? new JoinedRequest(present, false) : null;
        }
        long after = last == null ? -1 : last.take(permits, nanos);
        if (last != null && after >= 0) {
            return new JoinedRequest(LeaseRequest.completed(last, after, nanos), false);
        }
        Lease remainder = Lease.NONE;
        if (last != null) {
            LeasedPermits.End end = last.close(nanos);
            remainder = end.remainder();
            nextAsk = Math.min(end.nextAsk(), limit.lease());
            leased = null;
        }
        if (nextAsk == 0 && remainder.isEmpty()) {
            nextAsk = Math.min(permits, limit.lease());
            return null;
        }
        LeaseRequest next = new LeaseRequest(nextAsk, remainder, nanos);
        request = next;
        return new JoinedRequest(next, true);
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
            brought.close(nanos);
            return Lease.NONE;
        }
        if (retired || !expected) {
            return brought.close(nanos).remainder();
        }
        answered.serve(brought, nanos);
        leased = brought;
        return Lease.NONE;
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

    /** Returns whether no call has taken or wanted permits since the last look. */
    synchronized boolean look() {
        long handedOut = handedOut();
        boolean idle = isIdle(handedOut);
        wanted = false;
        lastSeen = leased;
        lastHandedOut = handedOut;
        return idle;
    }

    private boolean isIdle(long handedOut) {
        return !wanted && request == null && leased == lastSeen && handedOut == lastHandedOut;
    }

    private long handedOut() {
        LeasedPermits present = leased;
        return present == null ? 0 : present.handedOut();
    }

    /**
     * Ends it if it has stayed idle since the last look.
     *
     * @param most the permits that it may have left
     * @return the permits to refund; {@code null} if it stays in use
     */
    synchronized @Nullable Lease retireIfIdle(long most, long nanos) {
        LeasedPermits last = leased;
        return isIdle(handedOut()) && (last == null || last.remainder(nanos) <= most) ? retire(nanos) : null;
    }

    /** Ends it, so that the store decides later calls alone. Returns the permits to refund. */
    synchronized Lease retire(long nanos) {
        retired = true;
        LeasedPermits last = leased;
        leased = null;
        return last == null ? Lease.NONE : last.close(nanos).remainder();
    }

    /** Drops the lease, because the store has forgotten the bucket: leased permits are no longer charged. */
    synchronized void forget(long nanos) {
        LeasedPermits last = leased;
        leased = null;
        if (last != null) {
            last.close(nanos);
        }
        if (request != null) {
            request.abandon();
        }
    }
}
