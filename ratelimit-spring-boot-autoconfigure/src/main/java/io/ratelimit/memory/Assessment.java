package io.ratelimit.memory;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import org.jspecify.annotations.Nullable;

/** A call held against a bucket, before it is known whether the call's other limits allow it. */
final class Assessment {

    private final RateLimit limit;

    private final long permits;

    private final @Nullable BucketState last;

    private final BucketState state;

    private final long now;

    /** The time until the permits are there; 0 if they are, or if they never can be. */
    private final long wait;

    private final boolean fits;

    /** The state with this call's charge, once somebody wants to know. */
    private @Nullable BucketState charged;

    Assessment(RateLimit limit, Rule<?> rule, @Nullable BucketState last, long clock, long permits) {
        this.limit = limit;
        this.permits = permits;
        this.last = last;
        Lag lag = BucketState.lag(last, clock);
        this.now = lag == null ? clock : lag.seen();
        this.state = BucketState.of(rule, last, lag, now);
        this.wait = timeUntilThere(limit.capacity());
        this.fits = permits <= limit.capacity() && wait <= aheadMicros();
    }

    private long timeUntilThere(long capacity) {
        boolean there = permits == 0
                || permits > capacity
                || permits <= capacity - state.own().used(now);
        return there ? 0 : state.own().timeUntil(capacity - permits, now);
    }

    private long aheadMicros() {
        return limit.maxWait().isZero() ? 0 : limit.maxWait().toNanos() / 1_000;
    }

    /** Whether the permits are there, or can be reserved ahead. */
    boolean fits() {
        return fits;
    }

    RateLimitDecision decision(boolean charged) {
        Section<?> own = (charged && permits > 0 ? charged() : state).own();
        return RateLimitDecision.ofMicros(
                limit.capacity(),
                Math.max(0, limit.capacity() - own.used(now)),
                delay(),
                retryAfter(),
                own.resetAfter(now));
    }

    /** What the section is right after this call's charge. */
    Count receipt() {
        return charged().own().usage().receipt();
    }

    private BucketState charged() {
        BucketState known = charged;
        if (known == null) {
            known = state.charge(now, permits);
            charged = known;
        }
        return known;
    }

    /** In a leaky bucket the call's slot comes after all that are taken. */
    private long delay() {
        if (!fits || permits == 0) {
            return 0;
        }
        return limit.algorithm() == Algorithm.LEAKY_BUCKET ? state.own().resetAfter(now) : wait;
    }

    private long retryAfter() {
        if (fits) {
            return 0;
        }
        return permits > limit.capacity() ? -1 : wait - aheadMicros();
    }

    /** What is to be remembered. */
    @Nullable
    BucketState next(boolean charged) {
        if (charged && permits > 0) {
            return charged();
        }
        if (last == null || !state.differsFrom(last)) {
            return last;
        }
        return (fits ? state : state.promising(retryAfter())).settled(now);
    }
}
