package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * What an instance has of one bucket: the stock of its present lease, and how many permits the next one is to be of. There
 * is one lease at a time. Threads take from the stock without a lock; the lock is for leases that come and go.
 */
final class LeasedBucket {

    private final RateLimit limit;

    private volatile @Nullable Stock stock;

    private @Nullable LeaseFlight flight;

    /** 0: the next call takes none, so that a key which is used once costs no lease. */
    private long nextAsk;

    private boolean retired;

    private boolean wanted = true;

    private @Nullable Stock lastSeen;

    private long lastHandedOut;

    LeasedBucket(RateLimit limit) {
        this.limit = limit;
    }

    /** The permits that are here, if there ever was a lease. */
    @Nullable
    Stock stock() {
        return stock;
    }

    /**
     * For a call that has found too few permits: the lease to wait for, or a new one for the caller to ask for; or neither,
     * and the store decides for this call alone.
     */
    synchronized @Nullable Approach approach(long permits, long nanos) {
        wanted = true;
        LeaseFlight present = flight;
        Stock last = stock;
        if (retired) {
            return null;
        }
        // One that has come down otherwise, such as where the stack ended, is none.
        if (present != null && !present.landing().isDone()) {
            return present.takesOn(permits) ? new Approach(present, false) : null;
        }
        long after = last == null ? -1 : last.take(permits, nanos);
        if (last != null && after >= 0) {
            return new Approach(LeaseFlight.landed(last, after, nanos), false);
        }
        Leftover leftover = last == null ? Leftover.NONE : last.close(nanos);
        if (last != null) {
            nextAsk = Math.min(leftover.nextAsk(), limit.lease());
            stock = null;
        }
        if (nextAsk == 0 && leftover.permits() == 0) {
            nextAsk = Math.min(permits, limit.lease());
            return null;
        }
        LeaseFlight next = new LeaseFlight(nextAsk, leftover);
        flight = next;
        return new Approach(next, true);
    }

    /** A lease to wait for, which may have come meanwhile, or to ask for oneself. */
    record Approach(LeaseFlight flight, boolean asks) {}

    /**
     * The store has answered.
     *
     * @param brought {@code null} if there is none
     * @return what is to be given back at once, because nobody may use it any more
     */
    synchronized Leftover land(LeaseFlight landed, @Nullable Stock brought, long nanos) {
        flight = null;
        nextAsk = 0;
        if (brought == null) {
            return Leftover.NONE;
        }
        if (retired) {
            return brought.close(nanos);
        }
        if (landed.isAbandoned()) {
            brought.close(nanos);
            return Leftover.NONE;
        }
        landed.serve(brought, nanos);
        stock = brought;
        return Leftover.NONE;
    }

    /** Retires it if nobody has taken or wanted anything since this was asked last. */
    synchronized boolean retireIfIdle() {
        Stock present = stock;
        long handedOut = present == null ? 0 : present.handedOut();
        boolean idle = !wanted && flight == null && present == lastSeen && handedOut == lastHandedOut;
        wanted = false;
        lastSeen = present;
        lastHandedOut = handedOut;
        retired |= idle;
        return idle;
    }

    /** Ends it: what comes later is the store's affair alone. Returns what is to be given back. */
    synchronized Leftover retire(long nanos) {
        retired = true;
        Stock last = stock;
        stock = null;
        return last == null ? Leftover.NONE : last.close(nanos);
    }

    /** The store has forgotten the bucket: what was taken from it is no longer charged. */
    synchronized void forget(long nanos) {
        Stock last = stock;
        stock = null;
        if (last != null) {
            last.close(nanos);
        }
        if (flight != null) {
            flight.abandon();
        }
    }
}
