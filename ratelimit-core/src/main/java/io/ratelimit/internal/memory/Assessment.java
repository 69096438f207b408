package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;
import org.jspecify.annotations.Nullable;

/** Evaluates a call against a bucket, before it is known whether the call's other limits allow it. */
final class Assessment {

    private final long permits;

    private final @Nullable BucketState last;

    private final BucketState state;

    private final long now;

    private final Admission admission;

    /** The time until the key is no longer blocked, perhaps by this call. */
    private final long blocked;

    /** The state with this call's charge, once it is needed. */
    private @Nullable BucketState charged;

    Assessment(CompiledLimit limit, @Nullable BucketState last, long clock, long permits) {
        this.permits = permits;
        this.last = last;
        BucketState before = BucketState.at(limit.rule(), last, clock);
        this.now = before.now(clock);
        this.admission = new Admission(limit, permits);
        before.own().begin(admission, now);
        boolean violates = admission.blocksKey() && before.blockedFor(now) == 0;
        this.state = violates ? before.with(Block.after(before.block(), limit.blockFor(), now)) : before;
        this.blocked = state.blockedFor(now);
    }

    /** Whether the permits are there, or can be reserved ahead, and the key is not blocked. */
    boolean fits() {
        return admission.fits() && blocked == 0;
    }

    RateLimitDecision decision(boolean charged) {
        RuleState<?> own = (charged && permits > 0 ? charged() : state).own();
        admission.end(own.used(now), own.resetAfter(now));
        return blocked > 0 ? admission.rejection(blocked) : admission.decision();
    }

    /** Returns what this call's charge has taken from the bucket. */
    ChargedPermits receipt(Bucket bucket) {
        return new ChargedPermits(bucket, charged().own().usage().receipt(), now);
    }

    private BucketState charged() {
        BucketState known = charged;
        if (known == null) {
            known = state.charge(now, permits);
            charged = known;
        }
        return known;
    }

    /** Returns the state to be stored. */
    @Nullable
    BucketState next(boolean charged) {
        if (charged && permits > 0) {
            return charged();
        }
        if (last == null || !state.differsFrom(last)) {
            return last;
        }
        return (fits() ? state : state.promising(admission.retryAfter(blocked))).settled(now);
    }
}
