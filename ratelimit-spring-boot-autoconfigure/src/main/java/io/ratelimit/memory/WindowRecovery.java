package io.ratelimit.memory;

/** All permits at once, when the window that opened with the first of them ends: the fixed window. */
record WindowRecovery(long windowMicros, long capacity) implements Recovery {

    @Override
    public BucketState recover(BucketState state, long now) {
        return now - state.since() >= windowMicros || state.used() == 0
                ? new BucketState(0, now, 0, state.offset())
                : new BucketState(Math.min(state.used(), capacity), state.since(), 0, state.offset());
    }

    @Override
    public long timeUntil(long permits, BucketState recovered, long now) {
        return recovered.since() + windowMicros - now;
    }
}
