package io.ratelimit.memory;

import io.ratelimit.RateLimit;

/** What sets one algorithm apart from another: how used permits come back. Pure functions. */
interface Recovery {

    /** Takes out of a state the permits that are back at this time. */
    BucketState recover(BucketState state, long now);

    /** The time, from {@code now} on, until so many of a recovered state's used permits are back. */
    long timeUntil(long permits, BucketState recovered, long now);

    static Recovery of(RateLimit limit) {
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET -> new ContinuousRecovery(limit.pace(), limit.capacity());
            case FIXED_WINDOW -> new WindowRecovery(limit.fullMicros(), limit.capacity());
            default -> throw new IllegalArgumentException(limit.algorithm() + " is not supported yet");
        };
    }
}
