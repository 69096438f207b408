package io.ratelimit.redis;

/** Sends calls to Redis, each to be decided by its deadline. One script reaches all keys of a call. */
interface CallDispatcher {

    /** Completes the call's outcome in any case, now or later. Never throws. */
    void dispatch(PendingCall<?> call);
}
