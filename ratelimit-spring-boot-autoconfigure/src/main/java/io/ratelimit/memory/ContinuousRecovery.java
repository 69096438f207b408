package io.ratelimit.memory;

import io.ratelimit.Pace;

/** One permit after the other, evenly: the token bucket. */
record ContinuousRecovery(Pace pace, long capacity) implements Recovery {

    @Override
    public BucketState recover(BucketState state, long now) {
        long used = Math.min(state.used(), capacity);
        // A fraction that another pace has left may be too large for this one; it is less than a microsecond anyway.
        long fraction = Math.min(state.fraction(), pace.permits() - 1);
        long back = pace.permitsIn(now - state.since(), fraction, used);
        if (back == used) {
            return new BucketState(0, now, 0, state.offset());
        }
        return new BucketState(
                used - back,
                state.since() + pace.wholeTimeOf(back, fraction),
                pace.fractionOf(back, fraction),
                state.offset());
    }

    @Override
    public long timeUntil(long permits, BucketState recovered, long now) {
        return recovered.since() + pace.timeOf(permits, recovered.fraction()) - now;
    }
}
