package io.ratelimit.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import org.jspecify.annotations.Nullable;

/** A call held against a bucket, before it is known whether the call's other limits allow it. */
final class Assessment {

    private final RateLimit limit;

    private final Recovery recovery;

    private final @Nullable BucketState last;

    private final BucketState recovered;

    private final long now;

    private final long permits;

    private final boolean fits;

    Assessment(RateLimit limit, Recovery recovery, @Nullable BucketState last, long clock, long permits) {
        this.limit = limit;
        this.recovery = recovery;
        BucketState state = BucketState.at(last, clock);
        this.last = last;
        this.now = clock + state.offset();
        this.recovered = recovery.recover(state, now);
        this.permits = permits;
        this.fits = permits == 0 || permits <= limit.capacity() - recovered.used();
    }

    /** Whether the permits are there. */
    boolean fits() {
        return fits;
    }

    RateLimitDecision decision(boolean charged) {
        long used = recovered.used() + (charged ? permits : 0);
        return RateLimitDecision.ofMicros(limit.capacity(), limit.capacity() - used, 0, retryAfter(), resetAfter(used));
    }

    private long retryAfter() {
        if (fits) {
            return 0;
        }
        return permits > limit.capacity()
                ? -1
                : recovery.timeUntil(recovered.used() + permits - limit.capacity(), recovered, now);
    }

    private long resetAfter(long used) {
        return used == 0 ? 0 : recovery.timeUntil(used, recovered, now);
    }

    /** What is to be remembered. Only a charge changes a bucket, or a clock that went back or has caught up. */
    @Nullable
    BucketState next(boolean charged) {
        if (charged && permits > 0) {
            return recovered.withUsed(recovered.used() + permits);
        }
        if (last == null || last.offset() == recovered.offset()) {
            return last;
        }
        return recovered.used() == 0 ? null : recovered;
    }
}
