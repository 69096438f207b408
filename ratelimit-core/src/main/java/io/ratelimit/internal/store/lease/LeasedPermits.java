package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one lease, which any number of threads take from without a lock. A permit may be taken until it would
 * have begun to come back in the store, had it been used when the lease was taken: until then it counts there.
 */
final class LeasedPermits {

    private static final long CLOSED = -1;

    private static final long LOWER_HALF = 0xFFFF_FFFFL;

    /**
     * What separates the moment at which the request was sent from the store's time, beyond the way to it: its microseconds
     * are rounded down, and those that it replies up.
     */
    private static final long ROUNDED = 2;

    /**
     * With an even refill, permits come back at the whole limit's rate, however slowly this instance hands them out. Those were
     * not kept from other instances, so a lease may be so many times what was handed out.
     */
    private static final long BACK_BY_ITSELF = 8;

    /** In microseconds. So long an idle lease may be kept: one that is used up in that time is no worse for others. */
    private static final long HORIZON = 1_000_000;

    /** A lease of such a part of the permits that the bucket has left is small: other instances do not miss it. */
    private static final long SMALL = 1_000;

    /** A few permits tell little about how many more will be wanted. */
    private static final long STEEPEST = 8;

    /**
     * Also of limits whose first call starts a period: a renewal that comes after the end of one would start the next, earlier than
     * the first call that uses its permits.
     */
    private static final long NEVER = -1;

    /** In round trips. Permits that will be used up sooner are too few to wait with the next lease. */
    private static final double SOON = 2;

    private final RateLimit limit;

    private final RateLimitDecision leased;

    private final Lease lease;

    private final long sent;

    private final long received;

    private final long resetMicros;

    /** Until the last permit begins to come back; in windows, until all of them may. */
    private final long lifeMicros;

    private final boolean refillsEvenly;

    /** The permits that are here in the upper half, those that were handed out in the lower; or closed. */
    private final AtomicLong state;

    /** How many permits of calls that were rejected. */
    private final AtomicLong restored = new AtomicLong();

    /** With so many permits left it is time to look whether the next lease is due. */
    private volatile long few;

    /**
     * @param decision about the call that the lease was taken with; what it says of the bucket includes the lease
     * @param sent the time, in nanoseconds, before the store was asked for the lease
     * @param received the time when it had answered
     */
    LeasedPermits(RateLimit limit, RateLimitDecision decision, Lease lease, long sent, long received) {
        this.limit = limit;
        this.leased = decision;
        this.lease = lease;
        this.sent = sent;
        this.received = received;
        this.resetMicros = TimeUnit.MICROSECONDS.convert(decision.resetAfter());
        this.lifeMicros = limit.numbers().traits().leaseMicros(limit.numbers(), resetMicros) - ROUNDED;
        this.refillsEvenly = limit.numbers().traits().has(Trait.REFILLS_EVENLY);
        this.state = new AtomicLong(lease.permits() << 32);
        this.few = limit.numbers().traits().has(Trait.STARTS_PERIODS) ? NEVER : lease.permits() / 2;
    }

    /**
     * Takes permits.
     *
     * @return the {@link #state} then, which is not negative; -1 if there are not so many
     */
    long take(long permits, long nanos) {
        while (true) {
            long last = state.get();
            long left = valid(last, nanos) - permits;
            if (left < 0) {
                return -1;
            }
            long after = left << 32 | (handedOut(last) + permits);
            if (state.compareAndSet(last, after)) {
                return after;
            }
        }
    }

    /** Takes permits that may have to be put back; {@code null} if there are not so many. */
    @Nullable
    Portion takePortion(long permits, long nanos) {
        long before = restored.get();
        long after = take(permits, nanos);
        return after < 0 ? null : new Portion(this, permits, after, before);
    }

    private long valid(long last, long nanos) {
        if (last == CLOSED) {
            return 0;
        }
        long left = last >>> 32;
        long life = lifeMicros - elapsedMicros(nanos);
        if (life <= 0) {
            return 0;
        }
        return refillsEvenly ? limit.numbers().reducedRate().permitsIn(life, 0, left) : left;
    }

    /** Rounded up. */
    private long elapsedMicros(long nanos) {
        return (nanos - sent + 999) / 1_000;
    }

    private static long handedOut(long last) {
        return last & LOWER_HALF;
    }

    /**
     * Returns the decision for a call that has taken permits.
     *
     * @param after the {@link #state} when it had
     */
    RateLimitDecision decision(long after, long nanos) {
        return RateLimitDecision.ofMicros(
                leased.capacity(),
                leased.remaining() + (after >>> 32),
                0,
                0,
                Math.max(0, resetMicros - elapsedMicros(nanos)));
    }

    /** Takes permits for the only charge of a request; {@code null} if there are not so many. */
    @Nullable
    StoreOutcome take(StoreRequest request, LongSupplier clock) {
        if (!request.refundable()) {
            long now = clock.getAsLong();
            long after = take(request.first().permits(), now);
            return after < 0 ? null : StoreOutcome.of(request, decision(after, now));
        }
        Portion portion = takePortion(request.first().permits(), clock.getAsLong());
        return portion == null ? null : portion.outcome(request, clock);
    }

    /**
     * Puts back the permits of a call that does not take place.
     *
     * <p>Where permits come back one after the other, a lease hands out first those that stop counting first. The permits of the
     * portion stop counting before those {@code behind} it: those that were left when the portion was taken, and those that were put
     * back since. So as many are put back as still count of all these permits together, less those behind. If later calls have taken
     * permits behind the portion, the permits put back replace them: those still counted when the later calls took them.
     */
    private CompletionStage<Void> restore(Portion portion, long nanos) {
        long permits = portion.permits();
        if (!refillsEvenly) {
            return restore(permits)
                    ? CompletableFuture.completedFuture(null)
                    : lease.unused().refund(permits);
        }
        long meanwhile = restored.addAndGet(permits) - permits - portion.before();
        long behind = Math.min((portion.after() >>> 32) + meanwhile, lease.permits() - permits);
        long life = lifeMicros - elapsedMicros(nanos);
        if (life > 0) {
            var unused =
                    restore(Math.max(0, limit.numbers().reducedRate().permitsIn(life, 0, behind + permits) - behind));
        }
        return CompletableFuture.completedFuture(null);
    }

    /** @return false if this is closed */
    private boolean restore(long permits) {
        while (true) {
            long last = state.get();
            if (last == CLOSED) {
                return false;
            }
            long back = ((last >>> 32) + permits) << 32 | Math.max(0, handedOut(last) - permits);
            if (state.compareAndSet(last, back)) {
                return true;
            }
        }
    }

    /**
     * What a call has taken.
     *
     * @param after the {@link #state} then
     * @param before how many permits had been put back before
     */
    record Portion(LeasedPermits leased, long permits, long after, long before) {

        /** Returns the same of another number of permits, taken together with these. */
        Portion of(long some) {
            return new Portion(leased, some, after, before);
        }

        /** Returns the outcome of a request whose only charge has taken this. */
        StoreOutcome outcome(StoreRequest request, LongSupplier clock) {
            RateLimitDecision decision = leased.decision(after, clock.getAsLong());
            return request.refundable()
                    ? StoreOutcome.of(request, List.of(decision), refund(request.first(), clock))
                    : StoreOutcome.of(request, decision);
        }

        private Refund refund(Charge charge, LongSupplier clock) {
            return new ReceiptRefund<>(Map.of(charge, this), (taken, permits) -> restore(clock.getAsLong()));
        }

        /** The call does not take place. */
        CompletionStage<Void> restore(long nanos) {
            return leased.restore(this, nanos);
        }
    }

    /** Returns whether other instances would not miss what this limit leases at most, if no other instance took permits. */
    static boolean areSmall(RateLimit limit) {
        return limit.lease() <= limit.capacity() / SMALL;
    }

    /** Returns whether other instances do not miss this lease. */
    boolean isSmall() {
        return lease.permits() <= leased.remaining() / SMALL;
    }

    /** Returns whether so few permits are left that {@link #nextAskIfDue} has to be asked. Cheap. */
    boolean areFew() {
        long last = state.get();
        return last != CLOSED && last >>> 32 <= few;
    }

    /**
     * Returns how many permits the next lease is to be of, if those left will be used up before it could come; 0 if they will
     * last. Then the next look is at half as many. Never due again once it was: a lease that does not come is asked for when
     * these permits are used up.
     */
    long nextAskIfDue(long nanos) {
        long last = state.get();
        long left = last == CLOSED ? 0 : last >>> 32;
        if (left == 0 || left > few) {
            return 0;
        }
        double lasts = (double) left * (nanos - received) / Math.max(1, handedOut(last));
        boolean due = lasts < SOON * (received - sent);
        few = due ? NEVER : left / 2;
        return due ? nextAsk(last, 0, nanos) : 0;
    }

    /** How many permits were handed out, for comparison with another time. */
    long handedOut() {
        return handedOut(state.get());
    }

    /**
     * Hands out no more. Of what was closed before, nothing is left.
     *
     * @param wanted the permits of a call that does not find them here; 0 if there is no such call
     */
    End close(long wanted, long nanos) {
        long last = state.getAndSet(CLOSED);
        return last == CLOSED
                ? End.NOTHING
                : new End(new Lease(remainder(last, nanos), lease.unused()), nextAsk(last, wanted, nanos));
    }

    /** Returns whether permits can be refunded now. */
    boolean isRefundable() {
        return lease.unused().isAvailable();
    }

    /** How many permits are left to be refunded. */
    long remainder(long nanos) {
        long last = state.get();
        return last == CLOSED ? 0 : remainder(last, nanos);
    }

    private long remainder(long last, long nanos) {
        return elapsedMicros(nanos) < resetMicros ? last >>> 32 : 0;
    }

    /**
     * What a lease comes to.
     *
     * @param nextAsk how many permits the next one is to be of
     */
    record End(Lease remainder, long nextAsk) {

        static final End NOTHING = new End(Lease.NONE, 0);
    }

    /**
     * If all were handed out in time, as many as the horizon takes at that speed, and at least twice as many; else those. With an
     * even refill, the first leases may be back before the next call, which a lease for more calls would not be.
     */
    private long nextAsk(long last, long wanted, long nanos) {
        long handedOut = handedOut(last);
        long more = lease.permits();
        if (handedOut + valid(last, nanos) >= more) {
            long atThatSpeed = handedOut * HORIZON / Math.max(1, elapsedMicros(nanos));
            return areSmall(limit) ? limit.lease() : Math.max(2 * more, Math.min(atThatSpeed, STEEPEST * more));
        }
        long most = BACK_BY_ITSELF * wanted;
        boolean soon = refillsEvenly
                && wanted <= limit.lease()
                && limit.numbers().reducedRate().permitsIn(elapsedMicros(nanos), 0, most) < most;
        return refillsEvenly ? BACK_BY_ITSELF * Math.max(handedOut, soon ? wanted : 0) : handedOut;
    }
}
